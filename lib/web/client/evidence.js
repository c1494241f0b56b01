/**
 * The X-ray of the check that the verdict is of: the programs that it started, by name; the whole of one, or a stretch of
 * it; what decided the promise, marked where the check has said so.
 */
import { createCurtain } from './curtain.js';
import { markMoments, scaleOf, tellTimes } from './marks.js';
import { tableOf } from './charts.js';
import { make } from './page.js';
import { createStory, lanesOf, nameOf, rowsOf, tell } from './xray-story.js';
import { createXray } from './xray.js';
import { createStretch, within } from './stretch.js';

const NOT_SAID = 'This check does not say which moment decided it, so nothing is marked.';
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
let count = 0;

/** Of a check. @param {HTMLElement} section */
export const createEvidence = (section) =>
  showing(section, { room: 'evidence', title: 'What happened in this check', heading: 'h3' });

/** Of an activity beside the checks. @param {HTMLElement} section  @param {string} title */
export const createActivityEvidence = (section, title) =>
  showing(section, { room: 'activity', title, heading: 'h4' });

/** room: from where it is read. */
function showing(section, { room, title, heading }) {
  const parts = furnish(section, title, heading);
  let check = null;
  let promise;
  let number = -1;
  let evidence = { events: [], silences: [], left: 0 };
  let stretch = createStretch(evidence.events, []);
  let turn = 0;

  const moments = () => (promise?.shows?.program === number ? promise.shows.moments : []);

  async function load(chosen) {
    number = chosen;
    const mine = (turn += 1);
    const from = `/${room}/${check.id}/${number}.json`;
    const response = await fetch(from);
    if (mine !== turn || !response.ok) return;
    const fresh = await response.json();
    if (mine !== turn) return;
    evidence = fresh;
    section.dataset.from = from;
    stretch = createStretch(evidence.events, moments());
    draw();
  }

  function draw() {
    const { fromMs, toMs, zeroMs } = stretch;
    const xray = createXray(parts.drawing, { isStretch: true });
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
    markMoments(svg, { moments: moments(), lanes: lanesOf(shown), fromMs, toMs });
    parts.curtain.hang(svg, { x: scaleOf(svg, fromMs), fromMs, toMs, zeroMs });
    tellTimes(svg, fromMs - zeroMs);
    bringIntoView(parts.drawing, svg.querySelector('.mark'));
    parts.marks.replaceChildren(...moments().map((one) => momentOf(one, { names, zeroMs })));
    parts.marks.hidden = moments().length === 0;
    parts.unmarked.hidden = moments().length > 0 || promise?.verdict !== 'failed';
    parts.unmarked.textContent = promise?.shows ? NOTHING_HAPPENED : NOT_SAID;
    parts.table.replaceChildren(...tableOf(rowsOf(whole)));
    const digits = toMs - fromMs < 200 ? 3 : 2;
    const seconds = (ms) => `${((ms - zeroMs) / 1_000).toFixed(digits)} s`;
    parts.span.textContent = `${seconds(fromMs)} to ${seconds(toMs)} of ${seconds(stretch.endMs)}.${leftOut(evidence.left)}`;
    parts.moment.hidden = moments().length === 0;
    section.hidden = false;
  }

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
    /** @param {any} of  the check  @param {any} [about]  the promise that is chosen */
    show(of, about) {
      check = of;
      promise = about;
      const [own] = (about?.programs ?? []).filter((one) => !of.programs[one].isReference);
      const first = about?.shows?.program ?? own ?? about?.programs?.[0];
      if (about ? first === undefined : of.programs.length === 0)
        return void (section.hidden = true);
      offer(parts.program, of.programs, first ?? 0);
      load(first ?? 0);
    },
  };
}

/** Where the drawing is wider than its place, the first mark is to be seen. */
function bringIntoView(drawing, mark) {
  if (!mark || drawing.scrollWidth <= drawing.clientWidth) return;
  const by = mark.getBoundingClientRect().left - drawing.getBoundingClientRect().left;
  drawing.scrollLeft += by - drawing.clientWidth / 2;
}

const leftOut = (left) =>
  left > 0 ? ` ${left} requests and answers more are not drawn: there is no room for them.` : '';

/** The programs that the check started, in order. */
function offer(select, programs, chosen) {
  const words = programs.map(({ name }, index) => `${index + 1}. ${name}`);
  if ([...select.options].map(({ text }) => text).join('\n') !== words.join('\n'))
    select.replaceChildren(
      ...words.map((textContent, value) => make('option', { textContent, value: String(value) })),
    );
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

function furnish(section, textContent, heading) {
  count += 1;
  const title = make(heading, { id: `evidence-title-${count}`, textContent });
  section.setAttribute('aria-labelledby', title.id);
  const label = make('label', { textContent: 'Program ' });
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
  section.append(title, label, drawing, curtain.line, span, marks, unmarked, buttons, details);
  return { curtain, program, drawing, marks, unmarked, span, moves, moment: moves.moment, table };
}
