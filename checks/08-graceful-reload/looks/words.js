/** Lesson 8: what the program has printed. No word decides, only whether there was one, and which process said it. */
const LONG_NUMBER = /\d{2,}/g; // that of a process, for example; not an exit code, which may be all that is said
const NUMBER = /\d+/g;
const NODES_OWN = /^(|\^|Node\.js v\S+|\S+[/\\]app\.js:\d+)$/; // around what a process threw

/** The processes that have loaded an app.js of ours, by what that printed. */
export const loadersOf = (output) =>
  [...output.matchAll(/is loaded by process (\d+)/g)].map(([, pid]) => Number(pid));

/** What our app.js of this version prints when it is loaded. */
export const isLoadedLine = (version) =>
  new RegExp(`app\\.js ${version} is loaded by process \\d+\\n?`);

const linesOf = (text, number) => text.split('\n').map((line) => line.trim().replace(number, '#'));

/** Is every line among the ordinary ones, or Node's own? Long numbers may be others. */
export function saysNothingNew(said, ordinary, number = LONG_NUMBER) {
  const known = new Set(linesOf(ordinary, number));
  return said
    .split('\n')
    .filter((line) => !NODES_OWN.test(line.trim()))
    .every((line) => known.has(linesOf(line, number)[0]));
}

/** Does this say nothing beside that, and nothing more often, whatever the numbers? What workers say when they load an app.js is left out. */
export function saysNoMore(said, before) {
  const left = linesOf(before, NUMBER);
  const words = linesOf(said, NUMBER).filter(
    (line) => line && !/is loaded by process #/.test(line),
  );
  return words.every((line) => left.includes(line) && left.splice(left.indexOf(line), 1));
}

/** Does this say no more than an undisturbed reload, whatever its numbers? */
export const isWordless = (said, undisturbed) => saysNothingNew(said, undisturbed, NUMBER);
