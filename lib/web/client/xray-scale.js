/**
 * How an X-ray shares out its height and width: where each panel, lane, row of clients and curve lies. Pure.
 *
 * @typedef {import('./xray-story.js').Process} Process
 * @typedef {import('./xray-story.js').Asked} Asked
 *
 * @typedef {object} Panel  lanes that share a zero
 * @property {string} key @property {number} fromMs @property {Process[]} processes @property {Asked[]} asked
 * @property {number} [lengthMs]  shown by a bracket
 */
import { BRACKET, CURVE, LARGE, RIGHT, SMALL } from './xray-shapes.js';
import { nameOf } from './xray-story.js';

export const AXIS = 40;
const TOP = 4;
const WIDEST_LANE = 80;
const WIDEST_ROW = 34;
const FEW = 2; // lanes or rows: they may be wider by half
const ROW = 12; // of a client, if there is room
const CLIENTS = 40; // at least, all rows of a panel together
const MOST_FOR_CLIENTS = 0.45;
const LINE = 1.27; // of a name, in parts of its font's size
const LEAST_LANE = LINE * SMALL;

const sum = (/** @type {number[]} */ numbers) => numbers.reduce((all, one) => all + one, 0);

/** @param {import('./xray-story.js').Story} story  @param {Panel[]} panels  @param {any} view */
export function scaleOf(story, panels, view) {
  const { height, full, spanMs, expected, legend, widthOf } = view;
  const rows = panels.map(({ asked }) => clientRows(asked));
  if (expected) rows[0].count = Math.max(rows[0].count, clientRows(expected.asked).count);
  const born = sum(panels.map(({ processes }) => processes.length));
  const lanes = Math.max(1, born, expected?.lanes ?? 0);
  const brackets = panels.filter(({ lengthMs }) => lengthMs !== undefined).length * BRACKET;
  const curveCount = Math.max(story.curves.size, expected?.curves ?? 0);
  const room = height - TOP - AXIS - legend.height - brackets - curveCount * CURVE;
  const counts = rows.map(({ count }) => count);
  const { lane, bands } = divideHeight(room, { lanes, counts });
  const size = lane >= LINE * LARGE ? LARGE : SMALL;
  const margin =
    24 + Math.max(80, ...namesIn(story, panels, counts).map((name) => widthOf(name, size)));
  const width = full - margin - RIGHT;
  const placed = placePanels(panels, { rows, bands, lane, margin, width, spanMs });
  const lanesEnd = TOP + brackets + sum(bands) + lanes * lane;
  const axisY = lanesEnd + curveCount * CURVE;
  return {
    ...view,
    ...{ panels: placed, curves: placeCurves(story, placed[0], lanesEnd) },
    ...{ lane, bar: lane * 0.62, size, margin, width },
    ...{ axisY, bottom: axisY + AXIS + legend.height },
  };
}

/**
 * Shares a height between lanes and the clients' rows: the rows give way first, then the lanes.
 * @param {number} room @param {{ lanes: number, counts: number[] }} wanted  counts: of the clients' rows, panel by panel
 */
function divideHeight(room, { lanes, counts }) {
  const shares = counts.map((count) => (count > 0 ? Math.max(CLIENTS, count * ROW + 10) : 0));
  const least = shares.filter((share) => share > 0).length * CLIENTS;
  const most = Math.max(least, Math.min(MOST_FOR_CLIENTS * room, room - lanes * LEAST_LANE));
  const wanted = sum(shares);
  const cut = Math.max(0, wanted - most);
  const widestLane = WIDEST_LANE * (lanes <= FEW ? 1.5 : 1);
  const lane = Math.min(widestLane, Math.max(12, (room - wanted + cut) / lanes));
  const spare = Math.max(0, room - wanted + cut - lane * lanes);
  const above = shares.map((share) => Math.max(0, share - CLIENTS)); // what each can give
  const allAbove = Math.max(1, sum(above));
  const bands = counts.map((count, index) => {
    const widest = Math.max(CLIENTS, count * widestRow(count) + 10);
    const given = (cut * above[index]) / allAbove;
    return count > 0 ? Math.min(widest, shares[index] - given + spare / counts.length) : 0;
  });
  return { lane, bands };
}

const widestRow = (/** @type {number} */ count) => WIDEST_ROW * (count <= FEW ? 1.5 : 1);

/** All names that the left margin has room for. */
const namesIn = ({ curves }, panels, counts) => [
  ...panels.flatMap(({ processes }) => processes.map(nameOf)),
  ...curves.keys(),
  ...(counts.some((count) => count > 0) ? ['clients'] : []),
];

/** From top to bottom, each panel: its bracket, its clients, its lanes. */
function placePanels(panels, { rows, bands, lane, margin, width, spanMs }) {
  let y = TOP;
  return panels.map((panel, index) => {
    const bracketY = y;
    if (panel.lengthMs !== undefined) y += BRACKET;
    const clientsY = y;
    y += bands[index];
    const lanesY = y;
    y += panel.processes.length * lane;
    const { rows: asked, count } = rows[index];
    const rowHeight = Math.min((bands[index] - 8) / Math.max(1, count), widestRow(count));
    const share = (ms) => Math.min(1, Math.max(0, (ms - panel.fromMs) / spanMs));
    const x = (ms) => margin + share(ms) * width;
    const isSeen = (fromMs, toMs) => toMs >= panel.fromMs && fromMs <= panel.fromMs + spanMs;
    return {
      ...panel,
      ...{ bracketY, clientsY, lanesY, rowHeight, x, isSeen, asked, band: bands[index] },
    };
  });
}

const placeCurves = ({ curves }, { x, fromMs }, top) =>
  [...curves].map(([name, curve], index) => ({
    ...{ name, ...curve, y: top + index * CURVE, x, fromMs },
  }));

function clientRows(asked) {
  const ends = [];
  const rows = asked.map((one) => {
    const free = ends.findIndex((end) => end <= one.fromMs);
    const row = free < 0 ? ends.length : free;
    ends[row] = one.toMs ?? Infinity;
    return { ...one, row };
  });
  return { rows, count: ends.length };
}
