/** The legend of an X-ray: each sign that is drawn, with its meaning. */
import { heirsOf } from './xray-story.js';

const SIZE = 24;
const ROW = 34;
const SIGN = 34;
const GAP = 18;

/** @typedef {{ name: string, kind: string, tag?: string, at: (x: number, y: number) => Record<string, string | number> }} Sign */

const box = (x, y) => ({ x, y: y - 14, width: 28, height: 16 });
const path = (d) => (x, y) => ({ d: `M${x} ${y} ${d}` });
const SIGNS = {
  waiting: { name: 'waits', kind: 'waiting', at: box },
  answered: { name: 'answered', kind: 'answered', at: box },
  failed: { name: 'failed', kind: 'failed', at: box },
  starting: { name: 'starts up', kind: 'starting', at: box },
  served: { name: 'served', kind: 'served', at: box },
  running: { name: 'at work', kind: 'running', at: box },
  lost: { name: 'lost', kind: 'lost', at: box },
  silent: {
    name: 'loop blocked',
    kind: 'silent',
    at: (x, y) => ({ ...box(x, y + 4), height: 7 }),
  },
  handoff: { name: 'handed over', kind: 'handoff', tag: 'path', at: path('m14 4 v-20') },
  listening: {
    name: 'listens',
    kind: 'listening',
    tag: 'path',
    at: path('m8 4 v-20 l12 6 l-12 6 z'),
  },
  gap: { name: 'gap', kind: 'gap', tag: 'path', at: path('m2 -14 v16 m0 -8 h28') },
  grave: { name: 'ended', kind: 'grave', tag: 'path', at: path('m6 3 v-12 a8 8 0 0 1 16 0 v12 z') },
};

/**
 * @param {import('./xray-story.js').Story} story @returns {string[]}  the signs that it needs, by the classes of their marks
 */
export function signsIn(story) {
  const { originMs } = story;
  /** @type {any[]} an unknown time is undefined, and no comparison with it holds */
  const all = [...story.processes.values()];
  /** @type {any[]} */
  const asked = [...story.asked.values()];
  const isOpen = ({ requests }) => requests.some(({ toMs }) => toMs === undefined);
  const isIn = {
    waiting: asked.some(({ toMs }) => toMs === undefined),
    answered: asked.some(({ toMs, error }) => toMs !== undefined && !error),
    failed: asked.some(({ error, status }) => error || status >= 400),
    starting: all.some(({ startedMs }) => startedMs >= originMs),
    served: all.some(({ requests }) => requests.some(({ toMs }) => toMs >= originMs)),
    running: all.some((one) => one.diedMs === undefined && isOpen(one)),
    lost: all.some((one) => one.diedMs !== undefined && isOpen(one)),
    silent: all.some(({ silent }) => silent.some(({ toMs = Infinity }) => toMs >= originMs)),
    handoff: story.handoffs.some(({ ms }) => ms >= originMs),
    listening: all.some(({ listeningMs }) => listeningMs >= originMs),
    gap: heirsOf(story).length > 0,
    grave: all.some(({ diedMs }) => diedMs >= originMs),
  };
  return Object.keys(SIGNS).filter((name) => isIn[name]);
}

/**
 * @param {string[]} signs @param {{ width: number, widthOf: (text: string, size: number) => number }} page
 * @returns {{ height: number, marks: (top: number) => import('./xray-shapes.js').Mark[] }}
 */
export function legendOf(signs, { width, widthOf }) {
  let [x, row] = [0, 0];
  const placed = signs.map((key) => {
    const { name } = SIGNS[key];
    const needed = SIGN + widthOf(name, SIZE);
    if (x + needed > width) [x, row] = [0, row + 1];
    const place = { key, x, row };
    x += needed + GAP;
    return place;
  });
  return {
    height: placed.length > 0 ? (row + 1) * ROW : 0,
    marks: (top) => placed.flatMap((place) => signMarks(place, top)),
  };
}

function signMarks({ key, x, row }, top) {
  const { name, kind, tag = 'rect', at } = SIGNS[key];
  const y = top + row * ROW + 25;
  const layer = 'legend';
  const words = { class: 'legend', x: x + SIGN, y, 'font-size': SIZE };
  const marks = [
    { key: `sign ${key}`, layer, tag, at: { class: kind, ...at(x, y) } },
    { key: `means ${key}`, layer, tag: 'text', at: words, text: name },
  ];
  if (kind !== 'lost' && kind !== 'failed') return marks;
  const d = `M${x} ${y - 14} l28 16 m0 -16 l-28 16`;
  return [...marks, { key: `cross ${key}`, layer, tag: 'path', at: { class: 'cross', d } }];
}
