/** The evidence for a verdict: an X-ray of each program that the check started, with the moments that decided it marked. */
import { createParts } from './evidence-parts.js';
import { createTimeline } from './evidence-timeline.js';
import { offerPrograms } from './program-menu.js';

const UNKNOWN_MOMENT = "This check doesn't say which moment decided it, so nothing is marked.";
const NOTHING_HAPPENED = "Something that didn't happen decided it, so there is no moment to mark.";
/** @type {{ title: string, heading: 'h3' | 'h4', room: string, read: (path: string) => Promise<any> }} */
const OF_A_CHECK = {
  title: 'What happened in this check',
  heading: 'h3',
  room: 'evidence',
  read: fetched,
};
const EARLIER_CHECK = 'What happened in the check before this one';

/** The evidence for an activity beside the checks. @param {HTMLElement} section  @param {string} title */
export const createActivityEvidence = (section, title) =>
  createEvidence(section, { room: 'activity', title, heading: 'h4' });

/**
 * @param {HTMLElement} section
 * @param {Partial<typeof OF_A_CHECK>} [options]  room: the first part of the evidence's path on the server; read: fetches
 *   that path, undefined when the evidence is gone
 */
export function createEvidence(section, options = {}) {
  const { title, heading, room, read } = { ...OF_A_CHECK, ...options };
  const parts = createParts(section, { title, heading });
  const timeline = createTimeline(parts);
  const entitle = () => {
    const isNewest = !shown || newest === undefined || shown.check.id === newest;
    parts.title.textContent = isNewest ? title : EARLIER_CHECK;
  };
  /** @type {{ check: any, promise: any } | undefined} promise: open on the page */
  let shown;
  let newest; // the id of the newest check
  let loads = 0;

  async function load(/** @type {number} */ program) {
    const mine = (loads += 1);
    const path = `/${room}/${shown?.check.id}/${program}.json`;
    const evidence = await read(path);
    if (mine !== loads) return;
    if (evidence) section.dataset.from = path;
    entitle();
    section.hidden = false;
    showLoaded({ parts, timeline }, evidence, { promise: shown?.promise, program });
  }
  parts.program.addEventListener('change', () => load(Number(parts.program.value)));

  return {
    /** A check with this id has begun, so the evidence on the page may be of an earlier check. */
    outdate(/** @type {number} */ id) {
      newest = id;
      entitle();
    },
    show(/** @type {any} */ check, /** @type {any} */ promise = undefined) {
      shown = { check, promise };
      const first = firstProgram(check, promise);
      if (first === undefined) return void (section.hidden = true);
      offerPrograms(parts.program, check, { promise, chosen: first });
      load(first);
    },
  };
}

function showLoaded({ parts, timeline }, evidence, { promise, program }) {
  parts.gone.hidden = Boolean(evidence);
  for (const part of parts.shown) part.hidden = !evidence;
  if (!evidence) return;
  const moments = promise?.shows?.program === program ? promise.shows.moments : [];
  parts.unmarked.hidden = moments.length > 0 || promise?.verdict !== 'failed';
  parts.unmarked.textContent = promise?.shows ? NOTHING_HAPPENED : UNKNOWN_MOMENT;
  timeline.show(evidence, moments);
}

/** The program to show first: the one with the moments that decided, or the learner's own. */
function firstProgram({ programs }, promise) {
  if (!promise) return programs.length > 0 ? 0 : undefined;
  const [own] = (promise.programs ?? []).filter((one) => !programs[one].isReference);
  return promise.shows?.program ?? own ?? promise.programs?.[0];
}

/** @returns {Promise<any>}  undefined when npm start is gone, or keeps the evidence no more */
async function fetched(/** @type {string} */ path) {
  const response = await fetch(path).catch(() => undefined);
  return response?.status === 200 ? response.json() : undefined;
}
