/** The place in a program's code at which an event loop stood still, from its stacks. Pure. */
/** @import { Stack } from '../stacks.js' */

/** The commonest: "isPlain, server.js:14" or "RegExp.test, called in isPlain, server.js:14". @param {Stack[]} stacks */
export function placeIn(stacks) {
  const counts = new Map();
  for (const { calls } of stacks) {
    const words = wordsOf(calls);
    if (words) counts.set(words, (counts.get(words) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0];
}

const CALL = /^(?:(?:async )?(.*?)(?: \[as .*\])? \()?(?:file:\/\/)?([^()]*):(\d+):\d+\)?$/;

/** The innermost call outside Node.js; if that is in a package, the program's own call that led there as well. */
function wordsOf(/** @type {string[]} */ calls) {
  const places = calls.flatMap((call) => {
    const [, name = '', file, line] = CALL.exec(call) ?? [];
    return file && !file.startsWith('node:') ? { call, name, file, line } : [];
  });
  const [inner] = places;
  if (!inner) return undefined;
  const say = (/** @type {typeof inner} */ { name, file, line }) =>
    `${name.replace(/^(.*\.)?<anonymous>$/, '') || 'a function without a name'}, ${file.split(/[/\\]/).at(-1)}:${line}`;
  const isOfPackage = (/** @type {typeof inner} */ { file }) => /[/\\]node_modules[/\\]/.test(file);
  const own = places.find((one) => !isOfPackage(one));
  const builtIn = inner.call === calls[0] ? '' : `${calls[0].replace(/ \(.*/, '')}, called in `;
  const from = own && own !== inner ? `, called from ${say(own)}` : '';
  return `${builtIn}${say(inner)}${from}`;
}
