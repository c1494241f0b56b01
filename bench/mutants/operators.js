/**
 * Small changes to a program: the operators of StrykerJS's instrumenter, and some of our own for the parts of a cluster:
 * numbers, names of events and signals, awaits and their order, the options of a call.
 *
 * @typedef {object} Mutant
 * @property {string} file
 * @property {string} operator
 * @property {number} line  where it begins, from 1
 * @property {string} text  the whole file
 */
import { parse } from '@babel/parser';
import { createInstrumenter } from '@stryker-mutator/instrumenter';
import { createInjector } from 'typed-inject';

const OTHERS = {
  exit: 'disconnect',
  disconnect: 'exit',
  listening: 'online',
  online: 'listening',
  message: 'error',
  close: 'end',
  SIGTERM: 'SIGINT',
  SIGINT: 'SIGTERM',
  SIGKILL: 'SIGTERM',
  SIGHUP: 'SIGUSR2',
};

/**
 * All mutants of a file; two operators that make the same text make one.
 * @param {string} file  its name, for messages
 * @param {string} source
 * @returns {Promise<Mutant[]>}  in the order of their places
 */
export async function mutantsOf(file, source) {
  const changes = [...(await fromStryker(file, source)), ...fromOurs(source)];
  const seen = new Set([source]);
  return changes
    .sort((a, b) => a.start - b.start || a.end - b.end)
    .map(({ start, end, by, operator }) => ({
      ...{ file, operator, line: source.slice(0, start).split('\n').length },
      text: source.slice(0, start) + by + source.slice(end),
    }))
    .filter(({ text }) => !seen.has(text) && seen.add(text) && isProgram(text));
}

/** Replaces source.slice(start, end). @typedef {{ start: number, end: number, by: string, operator: string }} Change */

/** @returns {Promise<Change[]>} */
async function fromStryker(file, source) {
  const silent = new Proxy({}, { get: (_, name) => () => String(name).startsWith('is') && false });
  const injector = createInjector()
    .provideValue('logger', silent)
    .provideValue('getLogger', () => silent);
  const instrumenter = injector.injectFunction(createInstrumenter);
  const options = { plugins: null, excludedMutations: [], ignorers: [], noHeader: true };
  const files = [{ name: file, mutate: true, content: source }];
  const { mutants } = await instrumenter.instrument(files, options);
  const lines = source.split('\n');
  const offsetOf = ({ line, column }) =>
    lines.slice(0, line).reduce((sum, { length }) => sum + length + 1, column);
  return mutants.map(({ location, replacement, mutatorName }) => ({
    ...{ start: offsetOf(location.start), end: offsetOf(location.end) },
    ...{ by: replacement, operator: mutatorName },
  }));
}

/** @returns {Change[]} */
function fromOurs(source) {
  const { program } = parse(source, { sourceType: 'module' });
  /** @type {Change[]} */
  const changes = [];
  const add = (operator, { start, end }, by) => changes.push({ start, end, by, operator });
  const textOf = ({ start, end }) => source.slice(start, end);
  walk(program, (node) => {
    if (node.type === 'NumericLiteral')
      for (const value of [node.value * 10, node.value + 1, 0]) add('Number', node, String(value));
    if (node.type === 'StringLiteral' && OTHERS[node.value])
      add('Name', node, `'${OTHERS[node.value]}'`);
    if (node.type === 'AwaitExpression') add('Await', node, textOf(node.argument));
    for (const argument of node.type === 'CallExpression' ? node.arguments : [])
      for (const property of argument.type === 'ObjectExpression' ? argument.properties : [])
        add('Option', withComma(property, source), '');
    if (node.type === 'ExpressionStatement') add('Statement', node, ';');
    for (const [one, next] of pairsIn(node))
      add('Order', { start: one.start, end: next.end }, `${textOf(next)}\n${textOf(one)}`);
  });
  return changes;
}

const withComma = ({ start, end }, source) => ({
  start,
  end: end + (/^\s*,/.exec(source.slice(end))?.[0].length ?? 0),
});

/** Neighbouring statements of which one waits, or is a call. */
function pairsIn({ type, body }) {
  if (!['BlockStatement', 'Program'].includes(type)) return [];
  const isStep = (one) => one.type === 'ExpressionStatement';
  return body.slice(1).flatMap((next, index) => {
    const one = body[index];
    return isStep(one) && isStep(next) ? [[one, next]] : [];
  });
}

function walk(node, visit) {
  if (!node || typeof node.type !== 'string') return;
  visit(node);
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? value : [value]) walk(child, visit);
}

function isProgram(text) {
  try {
    return Boolean(parse(text, { sourceType: 'module' }));
  } catch {
    return false;
  }
}
