/** The lanes of an X-ray and all that happens in them, as plain objects, once xray-scale.js has placed each lane. */
import { clientMarks } from './xray-client-marks.js';
import { BRACKET, LARGE, RIGHT, boxOf, crossOver, laneLabel, px, spoken } from './xray-shapes.js';
import { endOf, heirsOf, nameOf } from './xray-story.js';

/** @typedef {import('./xray-shapes.js').Mark} Mark  @typedef {import('./xray-labels.js').Label} Label */

/** All marks of a panel, and their words. @returns {{ marks: Mark[], labels: Label[] }} */
export function panelMarks(story, panel, scale) {
  const { processes, lanesY, key } = panel;
  const { lane } = scale;
  const marks = [];
  const labels = [];
  const add = (found) => (marks.push(...found.marks), labels.push(...found.labels));
  const yOf = new Map(processes.map((one, index) => [one, lanesY + index * lane]));
  if (panel.lengthMs !== undefined) add(bracketMarks(panel));
  if (panel.band > 0) {
    const y = panel.clientsY + panel.band / 2;
    labels.push(laneLabel(`clients ${key}`, 'clients', y, scale));
  }
  for (const one of processes) add(processMarks(one, yOf.get(one), panel, scale));
  for (const { dead, heir } of heirsOf(story))
    if (yOf.has(heir)) add(gapMarks(dead, heir, yOf.get(heir), panel, scale));
  add(clientMarks(panel, scale));
  marks.push(...handoffMarks(story, yOf, panel, scale));
  return { marks, labels };
}

function bracketMarks({ key, x, fromMs, lengthMs, bracketY }) {
  const [from, to] = [x(fromMs), x(fromMs + lengthMs)];
  const y = bracketY + BRACKET / 2 + 4;
  const d = `M${px(from)} ${px(y - 9)} v18 M${px(from)} ${px(y)} H${px(to)} M${px(to)} ${px(y - 9)} v18`;
  return {
    marks: [{ key: `bracket ${key}`, layer: 'clients', tag: 'path', at: { class: 'bracket', d } }],
    labels: [
      {
        key: `length ${key}`,
        text: `${Math.round(lengthMs)} ms`,
        kind: 'says length',
        size: LARGE,
        spots: [
          { x: to + 12, y: y + LARGE * 0.36, anchor: /** @type {const} */ ('start') },
          { x: to - 12, y: y + LARGE * 0.36, anchor: /** @type {const} */ ('end') },
        ],
      },
    ],
  };
}

/** A line from the accepting process to the process that got the connection; `done` keeps it for the next frame. */
function handoffMarks({ handoffs }, yOf, { x, isSeen }, { lane, bar, done }) {
  return handoffs.flatMap((one, index) => {
    const { ms, from, to } = one;
    if (!yOf.has(from) || !yOf.has(to) || !isSeen(ms, ms)) return [];
    if (!done.has(one)) {
      const y1 = yOf.get(from) + lane / 2;
      const y2 = yOf.get(to) + (lane - bar) / 2;
      const at = { class: 'handoff', x1: x(ms), x2: x(ms), y1, y2 };
      done.set(one, { key: `handoff ${index}`, layer: 'handoffs', tag: 'line', at });
    }
    return [done.get(one)];
  });
}

function processMarks(one, y, panel, scale) {
  const { lane, bar, done, isEmpty } = scale;
  const { pid, listeningMs, diedMs } = one;
  const { isSeen } = panel;
  const name = nameOf(one);
  const top = y + (lane - bar) / 2;
  const labels = [laneLabel(`lane ${pid}`, name, y + lane / 2, scale)];
  if (isEmpty) {
    const at = { class: 'empty', x: scale.margin, y: top, width: scale.width, height: bar };
    return { marks: [{ key: `empty ${pid}`, layer: 'lanes', tag: 'rect', at }], labels };
  }
  const row = { one, top, place: `${name}, pid ${pid}`, panel, scale };
  const work = workMarks(row, done);
  const marks = [...lifeMarks(row), ...work, ...silenceMarks(row)];
  if (listeningMs !== undefined && isSeen(listeningMs, listeningMs)) marks.push(flagMark(row));
  if (diedMs === undefined || !isSeen(diedMs, diedMs)) return { marks, labels };
  const bars = work.filter(({ key }) => key.startsWith('work')).map(boxOf);
  return { marks: [...marks, graveMark(row)], labels: [...labels, endLabel(row, bars)] };
}

/**
 * A bar in the lane of a process, from one time to another, or to the end of what is drawn.
 * @returns {Mark[]}  none if the drawing doesn't show that time
 */
function spanMarks(row, kind, key, [fromMs, toMs], { said = '', down = 0, height = 0 } = {}) {
  const { one, top, place, panel, scale } = row;
  const { x, isSeen, fromMs: zeroMs } = panel;
  const until = toMs ?? one.diedMs ?? scale.nowMs;
  if (!isSeen(fromMs, until)) return [];
  const width = Math.max(1.5, x(until) - x(fromMs));
  const at = {
    class: kind === 'alive' ? `alive ${one.role ?? ''}`.trim() : kind,
    ...{ x: x(fromMs), y: top + down, width, height: height || scale.bar },
  };
  const layer = kind === 'alive' ? 'lanes' : 'work';
  const says = () => `${place}: ${said} ${spoken(fromMs, toMs, zeroMs)}`;
  return [{ key: `${key} ${one.pid}`, layer, tag: 'rect', at, says }];
}

function lifeMarks(row) {
  const { bornMs, startedMs, diedMs } = row.one;
  const said = diedMs === undefined ? 'runs' : 'ran';
  const life = spanMarks(row, 'alive', 'alive', [bornMs, diedMs], { said });
  if (startedMs === undefined) return life;
  const toMs = Math.min(startedMs, diedMs ?? row.scale.nowMs);
  return [
    ...life,
    ...spanMarks(row, 'starting', 'starting', [bornMs, toMs], { said: 'starts up' }),
  ];
}

/** A bar for each request; `done` keeps the bar of an answered request for the next frame. */
function workMarks(row, done) {
  const { pid, diedMs, requests } = row.one;
  return requests.flatMap((request, index) => {
    if (done.has(request)) return [done.get(request)];
    const { fromMs, toMs } = request;
    const kind = toMs !== undefined ? 'served' : diedMs === undefined ? 'running' : 'lost';
    const said = { served: 'a request', running: 'at work', lost: 'a lost request' }[kind];
    const marks = spanMarks(row, kind, `work ${index}`, [fromMs, toMs ?? diedMs], { said });
    if (marks.length > 0 && kind === 'served') done.set(request, marks[0]);
    const crosses = kind === 'lost' ? marks.map(boxOf) : [];
    return [...marks, ...crosses.map((box) => crossOver(`lost ${index} ${pid}`, box))];
  });
}

/** A strip along the foot of the bar, for as long as the event loop didn't turn. */
function silenceMarks(row) {
  const { silent, diedMs } = row.one;
  const { bar } = row.scale;
  const height = Math.max(4, bar * 0.22);
  const options = { said: 'its event loop is blocked', down: bar - height, height };
  return silent.flatMap(({ fromMs, toMs }, index) =>
    spanMarks(row, 'silent', `silent ${index}`, [fromMs, toMs ?? diedMs], options),
  );
}

function flagMark({ one: { pid, listeningMs }, top, place, panel, scale: { bar } }) {
  const d = `M${px(panel.x(listeningMs))} ${px(top + bar)} v${px(-bar - 2)} l12 6 l-12 6 z`;
  const says = () => `${place}: listens from ${(listeningMs - panel.fromMs).toFixed(1)} ms`;
  return { key: `listens ${pid}`, layer: 'work', tag: 'path', at: { class: 'listening', d }, says };
}

/** The last moment of the axis leaves room for a grave. */
const graveX = ({ one, panel, scale }) => Math.min(panel.x(one.diedMs), scale.full - RIGHT);

function graveMark(row) {
  const { one, top, place, panel, scale } = row;
  const d = `M${px(graveX(row))} ${px(top + scale.bar)} v-12 a8 8 0 0 1 16 0 v12 z`;
  const says = () => `${place}: ${endOf(one)} at ${(one.diedMs - panel.fromMs).toFixed(1)} ms`;
  return { key: `grave ${one.pid}`, layer: 'work', tag: 'path', at: { class: 'grave', d }, says };
}

function endLabel(row, avoid) {
  const { one, top, scale } = row;
  const at = graveX(row);
  const y = top + scale.bar / 2 + scale.size * 0.36;
  return {
    ...{ key: `end ${one.pid}`, text: endOf(one), kind: 'says', size: scale.size, avoid },
    spots: [
      { x: at + 22, y },
      { x: at - 6, y, anchor: 'end' },
    ],
  };
}

/** From a worker's exit until its replacement listens, in the lane of the replacement, which was empty before. */
function gapMarks(dead, heir, y, { x, isSeen }, { lane, size, nowMs }) {
  if (!isSeen(dead.diedMs, heir.listeningMs)) return { marks: [], labels: [] };
  const avoid = heir.requests.map(({ fromMs, toMs }) => ({
    left: x(fromMs),
    right: x(toMs ?? nowMs),
    top: y,
    bottom: y + lane,
  }));
  const [from, to] = [x(dead.diedMs), x(heir.listeningMs)];
  const middle = y + lane / 2;
  const length = `${Math.round(heir.listeningMs - dead.diedMs)} ms`;
  const d = `M${px(from)} ${px(middle - 8)} v16 M${px(from)} ${px(middle)} H${px(to)}`;
  const baseline = middle + size * 0.36;
  return {
    marks: [{ key: `gap ${heir.pid}`, layer: 'work', tag: 'path', at: { class: 'gap', d } }],
    labels: [
      {
        key: `gap ${heir.pid}`,
        text: `${length} until it listens`,
        short: length,
        kind: 'says',
        size,
        spots: [
          { x: from - 10, y: baseline, anchor: /** @type {const} */ ('end') },
          { x: to + 18, y: baseline, anchor: /** @type {const} */ ('start') },
        ],
        avoid,
      },
    ],
  };
}
