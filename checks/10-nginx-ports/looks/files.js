/**
 * Where nginx writes: what it holds open (on Linux, from /proc, see proc(5)), its pid file, and the folders that it makes
 * when it starts for what is too large for memory.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, realpathSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { configurationOf } from './conf.js';
import { linkOf, nativesOf } from './nginx.js';

const BODY = { bytes: 200_000, sent: 100_000 }; // more than nginx keeps in memory
const KINDS = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']; // of folders, each with its directive
const HALF_SENT_MS = 3_000; // a moment, where nginx has its defaults

/** Which files nginx holds open to write to, while it takes a body that is too large for its memory. */
export async function lookAtFiles({ program, first }, nginx) {
  if (!first || program.fate) return undefined;
  const pids = nativesOf(program);
  const before = pids.flatMap(filesOf).length;
  const socket = connect(program.port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('latin1').on('data', (part) => (answer += part));
  socket.on('error', () => {});
  socket.write(`POST /pid HTTP/1.1\r\nHost: x\r\nContent-Length: ${BODY.bytes}\r\n\r\n`);
  socket.write('x'.repeat(BODY.sent));
  const isWritten = () => answer !== '' || pids.flatMap(filesOf).length > before;
  await program.until(isWritten, HALF_SENT_MS);
  const files = [...new Set(pids.flatMap(filesOf))];
  socket.destroy();
  const built = builtOf(nginx);
  return {
    ...placesOf(program, built),
    refusal: /^HTTP\/1\.1 (5\d\d)/.exec(answer)?.[1],
    outside: files.filter((file) => !file.startsWith(program.folder)),
    pidFile: defaultPidFile(built, pids),
    confBeside: pids.map(confOf).find((file) => file && !file.startsWith(home(program))),
    isElsewhere: pids.length > 0 && !pids.some((pid) => isAtHome(pid, program.temporary)),
  };
}

/** Regular files that a process has open to write to (Linux, else none); see proc(5). */
function filesOf(pid) {
  return readIfThere(() => readdirSync(`/proc/${pid}/fd`), []).flatMap((fd) => {
    const link = linkOf(`/proc/${pid}/fd/${fd}`);
    const info = readIfThere(() => readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'latin1'), '');
    const flags = parseInt(/^flags:\s+(\d+)/m.exec(info)?.[1] ?? '0', 8);
    const isFile = link.startsWith('/') && !/^\/(dev\/(?!shm\/)|proc\/|memfd:)/.test(link);
    return isFile && (flags & 3) !== 0 ? [link.replace(/ \(deleted\)$/, '')] : [];
  });
}

/** The settings nginx was built with: the places where it writes by default. @returns {string} */
const builtOf = (nginx) => spawnSync(nginx, ['-V'], { encoding: 'utf8' }).stderr ?? '';

/**
 * Where nginx was told to write, if not in the folder for temporary files; and the kinds of folders that it has not made
 * there. Where those really are cannot be seen if they already exist.
 * @returns {{ strays: { directive: string, place: string }[] }}
 */
function placesOf(program, built) {
  const configuration = configurationOf(program);
  if (!configuration) return { strays: [] };
  const { file, directives } = configuration;
  const home = realpathSync(program.temporary);
  const isInside = (/** @type {string} */ path) =>
    existsSync(path) && !/^\.\.|^$/.test(relative(home, realpathSync(path)));
  const told = (/** @type {string} */ name, /** @type {string[]} */ blocks) =>
    directives.find((one) => one.name === name && blocks.includes(one.block))?.args[0];
  const strays = KINDS.filter((kind) => !built.includes(`--without-http_${kind}_module`)).flatMap(
    (kind) => {
      const directive = `${kind}_temp_path`;
      const place = told(directive, ['http', 'http server']);
      const option = `--http-${kind.replace('_', '-')}-temp-path=`;
      const usual =
        new RegExp(`${option}(\\S+)`).exec(built)?.[1] ?? 'a folder beside nginx itself';
      if (!place) return [{ directive, place: usual }];
      return basesOf(file, home).some((base) => isInside(resolve(base, place)))
        ? []
        : [{ directive, place }];
    },
  );
  const pid = told('pid', ['']);
  const isPidElsewhere = pid && isAbsolute(pid) && existsSync(pid) && !isInside(pid);
  return { strays: isPidElsewhere ? [{ directive: 'pid', place: pid }, ...strays] : strays };
}

/** What a relative path may be relative to: the folder of the configuration, and those that it is in. */
function basesOf(/** @type {string} */ file, /** @type {string} */ home) {
  const folder = dirname(realpathSync(file));
  const bases = [folder];
  while (bases[0] !== home && bases[0] !== dirname(bases[0])) bases.unshift(dirname(bases[0]));
  return bases;
}

/** The built-in place for nginx's pid, if it holds the pid of one of these. */
function defaultPidFile(built, pids) {
  const file = /--pid-path=(\S+)/.exec(built)?.[1];
  if (!file || !existsSync(file)) return undefined;
  return pids.includes(Number(readIfThere(() => readFileSync(file, 'utf8'), '0')))
    ? file
    : undefined;
}

const home = (program) => realpathSync(program.temporary);

/** The file of its configuration, as its command line has it (Linux); nothing if that is relative to another folder. */
function confOf(pid) {
  const command = readIfThere(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'), '');
  const [, file] = /[\0 ]-c[\0 ]?(\/.+?)(?:[\0 ]-\w\b|\0|$)/.exec(command) ?? [];
  return file && existsSync(file) ? realpathSync(file) : undefined;
}

/** Was it started with this folder, or in it? If the system does not say, yes. */
function isAtHome(pid, folder) {
  if (process.platform !== 'linux') return true;
  const command = readIfThere(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'), '');
  const cwd = linkOf(`/proc/${pid}/cwd`);
  return command.includes(folder) || cwd.startsWith(folder);
}

/** @template T @param {() => T} read @param {T} otherwise @returns {T} otherwise: when it has gone meanwhile */
function readIfThere(read, otherwise) {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
