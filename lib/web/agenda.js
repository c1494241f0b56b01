/**
 * The run of show, computed from the minutes on the slides. A half day has the core, and an exercise is only begun, or
 * left for home (`{minutes=20 half=5}`); a full day has all chapters in that way; two days have all of all.
 */
const BREAK = { after: 75, minutes: 15, name: 'break' };
const LUNCH = { after: 150, minutes: 60, name: 'lunch' };
const LAST_OF_CORE = 6;
const CLOSING = 99;

/**
 * @param {import('./deck.js').Chapter[]} chapters
 * @returns {string}
 */
export function agenda(chapters) {
  const whole = (slide) => slide.minutes;
  const half = (slide) => slide.halfMinutes;
  const numberOf = ({ key }) => Number(key.slice(0, 2));
  const first = chapters.filter((chapter) => numberOf(chapter) <= LAST_OF_CORE);
  const second = chapters.filter((chapter) => numberOf(chapter) > LAST_OF_CORE);
  const core = [...first, ...second.filter((chapter) => numberOf(chapter) === CLOSING)];
  const lunch = true;
  return [
    ...table('A half day: exercises are begun in class', entries(core, half)),
    '',
    ...table('A full day: all lessons, exercises are begun', entries(chapters, half, { lunch })),
    '',
    ...table('Two days, the first: with time to build', entries(first, whole, { lunch })),
    '',
    ...table('Two days, the second', entries(second, whole, { lunch })),
    '',
  ].join('\n');
}

/**
 * The chapters, with breaks where people need one.
 * @returns {{ name: string, minutes: number }[]}
 */
function entries(chapters, minutesOf, { lunch = false } = {}) {
  let [sinceBreak, total, hadLunch] = [0, 0, !lunch];
  return chapters.flatMap(({ title, slides }, index) => {
    const minutes = Math.round(slides.reduce((sum, slide) => sum + minutesOf(slide), 0));
    const entry = { name: title, minutes };
    total += minutes;
    sinceBreak += minutes;
    const isLunch = !hadLunch && total >= LUNCH.after;
    if (index === chapters.length - 1 || (!isLunch && sinceBreak < BREAK.after)) return [entry];
    sinceBreak = 0;
    hadLunch ||= isLunch;
    return [entry, isLunch ? LUNCH : BREAK];
  });
}

function table(head, rows) {
  const names = Math.max(...rows.map(({ name }) => name.length));
  let minute = 0;
  const lines = rows.map(({ name, minutes }) => {
    const line = `  ${clock(minute)}  ${name.padEnd(names)}  ${String(minutes).padStart(3)} min`;
    minute += minutes;
    return line;
  });
  return [head, '', ...lines, `  ${clock(minute)}  end`];
}

const clock = (minutes) => `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}`;
