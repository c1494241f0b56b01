/** Trials in words: a kill, a stop, a reload, more workers, the probe's cost. Pure. */
import { format } from '../../verdict/terminal.js';
import { counted, whatWasDone } from './words.js';

/** @import { Trial } from '../trials.js' @import { Section } from './tell.js' */

const ROUGH = 0.1; // half the width of an interval; a wider one says too little
const MOST_COST = 0.03; // of the throughput, by the probe

/** @param {Trial} trial @param {string} head @returns {Section} */
export function trialSection(trial, head) {
  const { sent, lost, begun, repeated, errors } = trial;
  const total = lost.fresh + lost.kept;
  const kinds = Object.entries(errors).map(([kind, count]) => `${kind}: ${count}`);
  const begunOnes = trial.kind === 'stop' ? '' : `${begun} of them had begun in a process; `;
  const says = [
    `${whatWasDone(trial)}, with ${sent.fresh} requests on fresh connections and ${sent.kept} on kept ones before, then and after.`,
    total === 0
      ? 'No request was lost.'
      : `Lost: ${lost.fresh} on fresh connections, ${lost.kept} on kept ones. ${begunOnes}${kinds.join(', ')}.`,
    ...(repeated > 0
      ? [
          `${repeated} met a kept connection that was closing, and ${repeated === 1 ? 'was' : 'were'} sent again, as browsers do.`,
        ]
      : []),
    ...aboutStreams(trial),
    ...howItWent(trial),
  ];
  return { head, says, lines: eachReload(trial) };
}

/** A restart also breaks streams, but EventSource reconnects, so they aren't counted as lost. */
function aboutStreams(/** @type {Trial} */ { streams }) {
  if (!streams) return [];
  const { open, ended, broken, held } = streams;
  return [
    `${counted(open, 'answer')} without an end (event streams) ${open === 1 ? 'was' : 'were'} open then: the server ended ${ended} and broke off ${broken}; our clients closed the other ${held} in the end.`,
  ];
}

function eachReload(/** @type {Trial} */ { each = [] }) {
  if (each.length < 2) return [];
  const row = (/** @type {string[]} */ ...cells) =>
    `  ${cells.map((cell, index) => cell.padStart(index === 0 ? 6 : 14)).join('')}`;
  const of = (/** @type {number} */ some, /** @type {number} */ all) => `${some} of ${all}`;
  return [
    row('reload', 'took', 'lost, fresh', 'lost, kept'),
    ...each.map(({ tookMs, sent, lost }, index) =>
      row(
        String(index + 1),
        tookMs === undefined ? 'not whole' : `${(tookMs / 1000).toFixed(2)} s`,
        of(lost.fresh, sent.fresh),
        of(lost.kept, sent.kept),
      ),
    ),
  ];
}

function commandFailed(/** @type {import('../reload-command.js').Failed} */ { code, printed }) {
  const last = printed.trim().split('\n').at(-1);
  const how = code === null ? 'did not exit in time, or was killed' : `exited with code ${code}`;
  return `The command ${how}${last ? `: ${last}` : ''}.`;
}

/** @param {import('../scale.js').Scaled} scaled @param {string} head @returns {Section} */
export function scaleSection({ variable, isObeyed, steps, choice }, head) {
  if (!isObeyed) {
    const served = steps.map(({ asked, serve }) => `${serve} with ${variable}=${asked}`);
    const says = `The number of serving processes was not the requested one: ${served.join(', ')}. Name its variable: --workers-env WEB_CONCURRENCY`;
    return { head, says: [says] };
  }
  const [first] = steps;
  const rows = steps.map(({ asked, perSecond }) => ({ name: String(asked), value: perSecond }));
  const ratios = steps.slice(1).map(({ asked, ratio, ceiling }) => {
    const interval = `95 % interval ${format(ratio.low)} to ${format(ratio.high)}`;
    return `${asked} against ${first.asked}: ${format(ratio.value)} times as fast (${interval}). Ceiling ${format(asked / first.asked)} for work that waits, ${format(ceiling)} for work that computes, which the same number of spinning threads got here in the same minutes.`;
  });
  const failed = steps.filter(({ errors }) => errors > 0);
  return {
    head,
    charts: [{ name: 'scale', label: 'requests a second, by workers', unit: '', rows }],
    adds: [
      ...ratios,
      ...failed.map(
        ({ asked, errors }) =>
          `With ${counted(asked, 'worker')} ${counted(errors, 'request')} failed.`,
      ),
      whatItChose(choice, steps.at(-1)?.asked),
    ],
  };
}

/** @param {import('../cost.js').Cost} cost @param {string} head @returns {Section} */
export function costSection({ share, obstacle }, head) {
  if (!share) return { head, says: [obstacle ?? ''] };
  const [value, low, high] = [share.value, share.low, share.high].map(
    (one) => `${(one * 100).toFixed(1)} %`,
  );
  if (!((share.high - share.low) / 2 <= ROUGH))
    return {
      head,
      says: [`Its windows differ too much for a result: somewhere from ${low} to ${high}.`],
    };
  const says = [`The probe takes ${value} of its throughput (95 % interval ${low} to ${high}).`];
  if (share.low > MOST_COST)
    says.push(
      'That is more than the 3 % that it should take at most: without it the server is faster than reported here.',
    );
  return { head, says };
}

function whatItChose(/** @type {number | undefined} */ choice, most) {
  if (choice === undefined) return 'The windows differ too much to choose: is the machine busy?';
  const here = 'for this request, on this machine';
  if (choice === most) return `It would choose ${choice}, the most that were tried, ${here}.`;
  return `It would choose ${choice}: more are not surely faster by 5 %, ${here}.`;
}

function howOften(/** @type {NonNullable<Trial['each']>} */ each, servers) {
  const took = each.flatMap(({ tookMs }) => tookMs ?? []);
  if (took.length < each.length)
    return `Reload ${each.length} did not replace all ${servers}, so it was the last.`;
  const [least, most] = [Math.min(...took), Math.max(...took)].map((ms) => (ms / 1000).toFixed(2));
  return `All ${servers} were replaced in each of ${each.length} reloads, within ${least} to ${most} s.`;
}

function howItWent(trial) {
  const { kind, tookMs, waitedMs = 0, fate, servers, replaced, left, failed, each = [] } = trial;
  const took = tookMs === undefined ? '' : `${(tookMs / 1000).toFixed(2)} s`;
  if (kind === 'kill' && !fate)
    return [
      took
        ? `Full capacity again after ${took}: ${servers} serve.`
        : `Nothing took its place within ${(waitedMs / 1000).toFixed(1)} s, and no replacement seemed to follow.`,
    ];
  const ended =
    fate && `It ${fate.signal ? `was killed by ${fate.signal}` : `exited with code ${fate.code}`}`;
  if (kind === 'kill') return [`${ended} as well.`];
  if (kind === 'reload') {
    if (failed) return [commandFailed(failed), `${replaced} of ${servers} were replaced.`];
    if (ended) return [`${ended}.`];
    if (each.length > 1) return [howOften(each, servers)];
    if (replaced === 0) return ['No process was replaced.'];
    return [
      took
        ? `All ${servers} were replaced within ${took}.`
        : `${replaced} of ${servers} were replaced.`,
    ];
  }
  const names = left.map((one) => `${one.name} (pid ${one.pid})`).join(', ');
  return [
    ended ? `${ended} after ${took}.` : 'It still ran after 10 s.',
    ...(ended ? [left.length > 0 ? `Left behind: ${names}.` : 'Nothing was left behind.'] : []),
  ];
}
