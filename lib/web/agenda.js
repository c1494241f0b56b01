/** The run of show, computed from the minutes on the slides. */

/**
 * @param {import('./deck.js').Chapter[]} chapters
 * @returns {string}
 */
export function agenda(chapters) {
  const names = Math.max(...chapters.map(({ title }) => title.length));
  let minute = 0;
  const lines = chapters.map(({ title, minutes, slides }) => {
    const line = `  ${clock(minute)}  ${title.padEnd(names)}  ${String(minutes).padStart(3)} min, ${slides.length} slides`;
    minute += minutes;
    return line;
  });
  return [...lines, `  ${clock(minute)}  end`, ''].join('\n');
}

const clock = (minutes) =>
  `${Math.floor(minutes / 60)}:${String(Math.round(minutes % 60)).padStart(2, '0')}`;
