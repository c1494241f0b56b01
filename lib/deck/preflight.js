/** Reports, before the class, which demos this machine can't perform. */
import { availableParallelism } from 'node:os';
import { watchCrowd } from '../measure/conditions.js';
import { explainMissing, findTool } from '../tools/tools.js';

/**
 * @typedef {object} Preflight
 * @property {number} cores
 * @property {number} wanting  programs that want each core now: above 1 they wait
 * @property {Record<string, string>} unprepared  by the demo's name: the work of its first run
 * @property {Record<string, string>} obstacles  by the demo's name: why only its recording can be played here
 */

const UNPREPARED = 'Its first run has to build something. Run it once before the class.';

/** @param {import('./perform-demo.js').Demo[]} demos  @returns {Preflight} */
export function preflight(demos) {
  const wanting = Math.round(watchCrowd()() * 10) / 10;
  const obstacles = demos.flatMap(({ name, needs }) =>
    needs && !findTool(needs) ? [[name, `${explainMissing(needs).got} Play the recording.`]] : [],
  );
  const unprepared = demos.flatMap(({ name, needs, isPrepared = () => true }) =>
    (needs && !findTool(needs)) || isPrepared() ? [] : [[name, UNPREPARED]],
  );
  return {
    cores: availableParallelism(),
    wanting,
    obstacles: Object.fromEntries(obstacles),
    unprepared: Object.fromEntries(unprepared),
  };
}

const TOO_MANY = 1.5; // for each core, before a demo has begun

/** The same as lines for a terminal. @param {Preflight} found  @param {number} count  of all demos  @returns {string[]} */
export function preflightLines({ cores, wanting, obstacles, unprepared }, count) {
  const names = Object.keys(obstacles);
  const possible = count - names.length;
  return [
    `Demos: ${possible} of ${count} can be performed here, on ${cores} ${cores === 1 ? 'core' : 'cores'}.`,
    ...Object.entries({ ...obstacles, ...unprepared }).map(
      ([name, words]) => `  ${name}: ${words}`,
    ),
    ...busyLines(wanting),
  ];
}

const busyLines = (/** @type {number} */ wanting) =>
  wanting > TOO_MANY
    ? [`This machine is busy (${wanting} programs want each core): close what you do not need.`]
    : [];

/** The same for a page, with the lines. @param {import('./perform-demo.js').Demo[]} demos */
export function preflightForPage(demos) {
  const found = preflight(demos);
  const [busy] = busyLines(found.wanting);
  return { ...found, busy, lines: preflightLines(found, demos.length).map((line) => line.trim()) };
}
