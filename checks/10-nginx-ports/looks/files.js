/** Where nginx writes: what it holds open, and its pid file. On Linux from /proc, see proc(5). */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { linkOf, nativesOf } from './nginx.js';

const BODY = { bytes: 200_000, sent: 100_000 }; // more than nginx keeps in memory
const HALF_SENT_MS = 3_000; // a moment, where nginx does what it does if nothing else is said

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
  return {
    refusal: /^HTTP\/1\.1 (5\d\d|413)/.exec(answer)?.[1],
    outside: files.filter((file) => !file.startsWith(program.folder)),
    pidFile: defaultPidFile(nginx, pids),
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

/** The place for nginx's pid with which it was built, if it is the pid of one of these. */
function defaultPidFile(nginx, pids) {
  const { stderr } = spawnSync(nginx, ['-V'], { encoding: 'utf8' });
  const file = /--pid-path=(\S+)/.exec(stderr ?? '')?.[1];
  if (!file || !existsSync(file)) return undefined;
  return pids.includes(Number(readIfThere(() => readFileSync(file, 'utf8'), '0')))
    ? file
    : undefined;
}

/** Was it started with this folder, or in it? Where the system does not tell, yes. */
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
