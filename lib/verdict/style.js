import { styleText } from 'node:util';

const names = /** @type {const} */ (['bold', 'dim', 'red', 'green', 'yellow', 'cyan']);

/** @typedef {Record<'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', (text: string) => string>} Style */

/**
 * Functions that style text for one stream, or return it unchanged. The words beside a colour must carry its meaning as well.
 * @param {{ isTTY?: boolean }} stream @param {Record<string, string | undefined>} env @returns {Style}
 */
export function createStyle(stream, env) {
  const wanted = wantsColour(stream, env);
  const styler = (/** @type {typeof names[number]} */ name) => (/** @type {string} */ text) =>
    wanted ? styleText(name, text, { validateStream: false }) : text;
  return /** @type {Style} */ (Object.fromEntries(names.map((name) => [name, styler(name)])));
}

/** NO_COLOR (https://no-color.org) wins over FORCE_COLOR (as in Node.js), which wins over the stream. */
function wantsColour(stream, env) {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined) return !['0', 'false'].includes(env.FORCE_COLOR);
  return Boolean(stream.isTTY) && env.TERM !== 'dumb';
}
