import { styleText } from 'node:util';

const names = /** @type {const} */ (['bold', 'dim', 'red', 'green', 'yellow', 'cyan']);

/**
 * @typedef {Record<'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', (text: string) => string>} Style
 */

/**
 * Makes the functions that style text for one stream. If colour is not wanted they return the text as it is. Colour never
 * carries a meaning that the words beside it do not.
 * @param {{ isTTY?: boolean }} stream  where the text will be written
 * @param {Record<string, string | undefined>} env
 * @returns {Style}
 */
export function createStyle(stream, env) {
  const wanted = wantsColour(stream, env);
  const styler = (/** @type {typeof names[number]} */ name) => (/** @type {string} */ text) =>
    wanted ? styleText(name, text, { validateStream: false }) : text;
  return /** @type {Style} */ (Object.fromEntries(names.map((name) => [name, styler(name)])));
}

/** NO_COLOR (https://no-color.org) is obeyed first, then FORCE_COLOR as in Node, then the stream. */
function wantsColour(
  /** @type {{ isTTY?: boolean }} */ stream,
  /** @type {Record<string, string | undefined>} */ env,
) {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined) return !['0', 'false'].includes(env.FORCE_COLOR);
  return Boolean(stream.isTTY) && env.TERM !== 'dumb';
}
