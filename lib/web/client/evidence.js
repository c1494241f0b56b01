/**
 * The X-ray of the check that the verdict is of: the programs that it started, by name; the whole of one, or a stretch of
 * it; what decided the promise, marked where the check has said so.
 */
import { createCurtain } from './playback-curtain.js';
import { markMoments } from './mark-moments.js';
import { tableOf } from './charts.js';
import { make } from './elements.js';
import { createStory, nameOf, rowsOf, tell } from './xray-story.js';
import { createXray } from './xray.js';
import { createStretch, within } from './time-stretch.js';

const NOT_SAID = 'This check does not say which moment decided it, so nothing is marked.';
const BEFORE = 'What happened in the check before this one';
const GONE = 'Of this run nothing is kept any more, or npm start is not to be reached.';
const NOTHING_HAPPENED =
  'What decided it is that something did not happen, so there is no moment to mark.';
/** On the drawing itself; the buttons do the same. */
const KEYS = {
  '+': 'closer',
  '=': 'closer',
  '-': 'wider',
  0: 'whole',
  '[': 'earlier',
  ']': 'later',
};
const WIDEST = 1168; // what the drawing is made for
const FINER = 1.8; // px of the drawing in one of the page: its smallest words are 11 px there
const HEIGHT = 460;
let count = 0;

/** Of an activity beside the checks. @param {HTMLElement} section  @param {string} title */
export const createActivityEvidence = (section, title) =>
  createEvidence(section, { room: 'activity', title, heading: 'h4' });

/**
 * @param {HTMLElement} section
 * @param {{ title?: string, heading?: 'h3' | 'h4', room?: string, read?: (from: string) => Promise<any> }} [options]  of a check
 *   unless told; room: where it is on the server; read: gives what is to be had there
 */
export function createEvidence(
  section,
  { title = 'What happened in this check', heading = 'h3', room = 'evidence', read = fetched } = {},
) {
  const parts = furnish(section, title, heading);
  let check = null;
  /** @type {number | undefined} the check that has begun last */
  let newest;
  let promise;
  let number = -1;
  let evidence = { events: [], silences: [], left: 0 };
  let stretch = createStretch(evidence.events, []);
  let turn = 0;
  let drawnFor = 0; // px of the page

  const moments = () => (promise?.shows?.program === number ? promise.shows.moments : []);

  /** What is drawn may be of an earlier check than the one that is under way. */
  function entitle() {
    const isEarlier = check && newest !== undefined && check.id !== newest;
    parts.title.textContent = isEarlier ? BEFORE : title;
  }

  async function load(chosen) {
    number = chosen;
    const mine = (turn += 1);
    const from = `/${room}/${check.id}/${number}.json`;
    const fresh = await read(from);
    if (mine !== turn) return;
    parts.gone.hidden = Boolean(fresh);
    entitle();
    for (const part of parts.shown) part.hidden = !fresh;
    section.hidden = false;
    if (!fresh) return;
    evidence = fresh;
    section.dataset.from = from;
    stretch = createStretch(evidence.events, moments());
    draw();
  }

  function draw() {
    const { fromMs, toMs, zeroMs } = stretch;
    drawnFor = parts.drawing.clientWidth;
    const width = () => (drawnFor > 0 ? Math.min(WIDEST, Math.round(FINER * drawnFor)) : WIDEST);
    const sinceMs = fromMs - zeroMs;
    const xray = createXray(parts.drawing, {
      isStretch: true,
      sinceMs,
      width,
      height: () => HEIGHT,
      moments: moments(),
    });
    const shown = createStory();
    for (const message of within(evidence, { fromMs, toMs })) {
      xray.take(message);
      tell(shown, message);
    }
    xray.draw(toMs);
    const svg = /** @type {SVGSVGElement} */ (parts.drawing.children[0]);
    const whole = createStory();
    for (const message of within(evidence, { fromMs: zeroMs, toMs: Infinity }))
      tell(whole, message);
    const names = new Map([...whole.processes.values()].map((one) => [one.pid, nameOf(one)]));
    markMoments(svg, xray.marked());
    parts.curtain.hang(svg, { x: xray.xOf, fromMs, toMs, zeroMs });
    parts.marks.replaceChildren(...moments().map((one) => momentOf(one, { names, zeroMs })));
    parts.marks.hidden = moments().length === 0;
    parts.unmarked.hidden = moments().length > 0 || promise?.verdict !== 'failed';
    parts.unmarked.textContent = promise?.shows ? NOTHING_HAPPENED : NOT_SAID;
    parts.table.replaceChildren(...tableOf(rowsOf(whole)));
    const digits = toMs - fromMs < 200 ? 3 : 2;
    const seconds = (ms) => `${((ms - zeroMs) / 1_000).toFixed(digits)} s`;
    parts.span.textContent = `${seconds(fromMs)} to ${seconds(Math.min(toMs, stretch.endMs))} of ${seconds(stretch.endMs)}.${leftOut(evidence.left)}`;
    parts.moment.hidden = moments().length === 0;
  }

  new ResizeObserver(() => {
    const { clientWidth } = parts.drawing;
    if (number >= 0 && clientWidth > 0 && clientWidth !== drawnFor) draw(); // it was narrower, or hidden
  }).observe(parts.drawing);

  const move = (change) => {
    stretch = stretch[change]();
    draw();
  };
  for (const [change, button] of Object.entries(parts.moves))
    button.addEventListener('click', () => move(change));
  parts.drawing.addEventListener('keydown', (event) => {
    const change = KEYS[event.key];
    const isOther = event.ctrlKey || event.metaKey || event.altKey;
    if (!change || isOther || parts.moves[change].closest('[hidden]')) return;
    event.preventDefault();
    move(change);
  });
  parts.program.addEventListener('change', () => load(Number(parts.program.value)));

  return {
    /** This check is the newest: what is drawn may be of one before it. @param {number} id */
    outdate(id) {
      newest = id;
      entitle();
    },
    /** @param {any} of  the check  @param {any} [about]  the promise that is chosen */
    show(of, about) {
      check = of;
      promise = about;
      const [own] = (about?.programs ?? []).filter((one) => !of.programs[one].isReference);
      const first = about?.shows?.program ?? own ?? about?.programs?.[0];
      if (about ? first === undefined : of.programs.length === 0)
        return void (section.hidden = true);
      offer(parts.program, startsOf(of, about), first ?? 0);
      load(first ?? 0);
    },
  };
}

const leftOut = (left) =>
  left > 0 ? ` ${left} requests and answers more are not drawn: there is no room for them.` : '';

/**
 * The programs that the check started, by the promise that they were started for: those of the chosen one first.
 * @returns {{ label: string, starts: { value: number, words: string }[] }[]}
 */
function startsOf({ programs, promises = [] }, about) {
  const left = new Set(programs.keys());
  const groups = [about, ...promises].map((one) => ({
    label: one?.sentence ?? '',
    numbers: (one?.programs ?? []).filter((number) => left.delete(number)),
  }));
  const isAlone = left.size === programs.length;
  groups.push({ label: isAlone ? '' : 'Started for none of them', numbers: [...left] });
  return groups
    .filter(({ numbers }) => numbers.length > 0)
    .map(({ label, numbers }) => ({ label, starts: numbers.map(startOf) }));

  /** The same command may be started several times for one promise. */
  function startOf(value, index, numbers) {
    const { name } = programs[value];
    const same = numbers.filter((one) => programs[one].name === name);
    const which = same.length > 1 ? ` (start ${same.indexOf(value) + 1} of ${same.length})` : '';
    return { value, words: `${name}${which}` };
  }
}

function offer(select, groups, chosen) {
  const now = JSON.stringify(groups);
  if (select.dataset.holds !== now)
    select.replaceChildren(
      ...groups.flatMap(({ label, starts }) => {
        const options = starts.map(({ value, words }) =>
          make('option', { textContent: words, value: String(value) }),
        );
        if (!label) return options;
        const group = make('optgroup', { label });
        group.append(...options);
        return [group];
      }),
    );
  select.dataset.holds = now;
  select.value = String(chosen);
}

function momentOf({ pid, t, toMs, says }, { names, zeroMs }) {
  const seconds = (ms) => ((ms - zeroMs) / 1_000).toFixed(3);
  const when = toMs === undefined ? `${seconds(t)} s` : `${seconds(t)} to ${seconds(toMs)} s`;
  const item = make('li', {});
  item.dataset.pid = String(pid);
  item.dataset.t = String(t);
  item.append(
    make('b', { textContent: says }),
    ` ${names.get(pid) ?? `process ${pid}`} (pid ${pid}), ${when}`,
  );
  return item;
}

/** Nothing where npm start has gone, or has it no more. */
async function fetched(/** @type {string} */ from) {
  const response = await fetch(from).catch(() => undefined);
  return response?.status === 200 ? response.json() : undefined;
}

function furnish(section, textContent, heading) {
  count += 1;
  const title = make(heading, { id: `evidence-title-${count}`, textContent });
  section.setAttribute('aria-labelledby', title.id);
  const label = make('label', { textContent: 'Started as ' });
  const program = make('select', {});
  label.append(program);
  const drawing = make('div', { className: 'drawing', tabIndex: 0, role: 'group' });
  drawing.setAttribute('aria-label', 'X-ray of the program');
  const marks = make('ol', { className: 'marks', hidden: true });
  const unmarked = make('p', {
    className: 'note',
    hidden: true,
  });
  const span = make('p', { className: 'span' });
  const names = {
    moment: 'The moment',
    whole: 'The whole run',
    earlier: 'Earlier',
    later: 'Later',
    closer: 'Closer',
    wider: 'Wider',
  };
  const moves = Object.fromEntries(
    Object.entries(names).map(([key, textContent]) => [
      key,
      make('button', { type: 'button', textContent }),
    ]),
  );
  const buttons = make('p', { className: 'moves' });
  buttons.append(...Object.values(moves));
  const details = make('details', {});
  const table = make('table', {});
  const scroll = make('div', { className: 'table', tabIndex: 0, role: 'group' });
  scroll.setAttribute('aria-label', 'Table');
  scroll.append(table);
  details.append(make('summary', { textContent: 'The same as a table' }), scroll);
  const curtain = createCurtain();
  const gone = make('p', { className: 'note', textContent: GONE, hidden: true });
  const shown = [drawing, curtain.line, span, marks, unmarked, buttons, details];
  section.append(title, label, gone, ...shown);
  return {
    title,
    curtain,
    gone,
    shown,
    program,
    drawing,
    marks,
    unmarked,
    span,
    moves,
    moment: moves.moment,
    table,
  };
}
