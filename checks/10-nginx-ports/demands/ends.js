/** What lesson 10 demands of an end: one that was asked for, and one before it has begun. */
import { whyOfCrash } from '../../../lib/check/checking.js';
import { demandNone, demandValid, endOf, list } from './nginx.js';
import { endsShown, stopShown } from './shown.js';

const WHY_PATIENT =
  'After that time a graceful stop is over, and nginx hangs up, also on a client that is still sending its request. A request here takes 300 ms, and others take longer.';
const TRY_PATIENT =
  'worker_shutdown_timeout 5s; three seconds at least; or leave it out: then nginx waits for all of them';

/** What to fix first in a stop. @type {import('./nginx.js').Fault[]} */
const STOP_FAULTS = [
  [
    ({ answers }) => !answers,
    ({ door: { first } }) =>
      `with one server its first answer was ${first?.error ?? first?.status ?? 'none'}.`,
    'With more servers it answered: nginx was up before the server, or points elsewhere.',
    'start nginx when all servers have reported their addresses, and write those into the upstream',
  ],
  [
    ({ fate, isTwice }) => isTwice && fate?.signal,
    ({ fate }) => `a second one came while it was stopping, and it was ended by ${fate.signal}.`,
    'People press Ctrl-C again when they lose patience. A handler that is there only once does not hear that: the process ends at once, the servers with it, and the folder stays.',
    'process.on(signal, stop), not process.once(signal, stop); and if (isStopping) return;',
  ],
  [
    ({ fate }) => fate?.signal,
    ({ fate, natives }) =>
      `it was ended by ${fate.signal}${natives.length > 0 ? `; nginx, process ${natives[0]}, is still there` : ''}.`,
    'A signal without a handler ends this process at once. nginx has no channel to it, so nothing tells nginx.',
    "process.on('SIGTERM', stop); and process.on('SIGINT', stop);",
  ],
  [
    ({ fate }) => !fate,
    () => 'it was still running twenty seconds later.',
    'It ends on its own when its children have ended and no timer is set.',
    "front.kill('SIGQUIT'), wait for its 'exit', then stopAll()",
  ],
  [
    ({ lost, hurry }) => lost.length > 0 && hurry,
    ({ lost, answers, hurry }) =>
      `of ${answers.length} requests under way ${lost.length} were lost. The configuration says ${hurry}`,
    WHY_PATIENT,
    TRY_PATIENT,
  ],
  [
    ({ lost }) => lost.length > 0,
    ({ lost, answers }) =>
      `of ${answers.length} requests under way ${lost.length} were lost (${lost[0].error ?? `status ${lost[0].status}`}).`,
    'SIGTERM and SIGINT are a fast stop for nginx: it hangs up. Ctrl-C reaches it too, unless it was started detached. And the servers have to be there until nginx is gone.',
    "detached: true; on the signal front.kill('SIGQUIT'), wait for its 'exit', and only then stopAll()",
  ],
  [
    ({ hurry }) => hurry,
    ({ hurry }) => `the configuration says ${hurry}`,
    WHY_PATIENT,
    TRY_PATIENT,
  ],
  [
    ({ isFolderGone }) => isFolderGone,
    () =>
      'a long request that nginx got partly before the signal and partly after it was answered with status 500.',
    'nginx keeps what is too large for memory in the folder until it has passed it on. By then the folder had been removed.',
    'rmSync(folder, { recursive: true }) as the last thing, when nginx and the servers have ended',
  ],
  [
    ({ half }) => half !== undefined && half !== '200',
    ({ half }) =>
      `a request that nginx got partly before the signal and partly after it ${half === 'none' ? 'got no answer' : `was answered with status ${half}`}.`,
    'nginx waits for such a client, and then asks a server. By then the servers had left, or nginx had: nginx goes first, and they stay until it has ended.',
    "front.kill('SIGQUIT'); await once(front, 'exit'); and only then stopAll()",
  ],
  [
    ({ fate }) => fate.code !== 0,
    ({ fate, isTwice }) =>
      `${isTwice ? 'it was told twice, and ended' : 'it ended'} with exit code ${fate.code}.`,
    "Stopping when told to isn't a failure.",
    'set process.exitCode only when something has failed',
  ],
  [
    ({ left }) => left.length > 0,
    ({ left, natives }) =>
      `process ${list(left)} is still there${natives.length > 0 ? ', an nginx that holds the port' : ''}.`,
    'A daemon leaves its parent, and then nobody knows it.',
    'daemon off; and wait for the end of what you have started',
  ],
  [
    ({ turnedAway }) => turnedAway,
    ({ turnedAway }) =>
      `a client that came while it stopped was answered with status ${turnedAway}.`,
    'The servers no longer took clients, but nginx still did. At the end nginx goes first.',
    "first front.kill('SIGQUIT'), wait for its 'exit', and only then stopAll()",
  ],
  [
    ({ files }) => files.length > 0,
    ({ files }) => `${list(files)} is left in the folder for temporary files.`,
    'Nobody cleans up after a program that makes a new folder each time.',
    'rmSync(folder, { recursive: true }), when nginx has ended',
  ],
];

export function demandCleanStop(stop) {
  demandValid(stop.door);
  demandNone(STOP_FAULTS, {
    facts: stop,
    how: stop.how,
    expected:
      'What is under way is answered, all end, the folder is removed, and the exit code is 0.',
    shows: stopShown(stop),
    output: stop.output,
  });
}

/** @type {import('./nginx.js').Fault[]} */
const VAIN_FAULTS = [
  [
    ({ fate }) => !fate,
    () => 'it goes on running.',
    'Servers that nobody can reach are useless, and nobody hears about it.',
    "front.on('exit', ...): say so, end the servers, exit code 1",
  ],
  [
    ({ unheard, left, files }) => unheard && left.length + files.length > 0, // else it has cleaned up, and then thrown it
    ({ unheard }) => `it ended with an unhandled error: ${unheard}.`,
    "A missing program is an 'error' event of the child that spawn() returns. Unhandled, it ends yours on the spot.",
    "front.on('error', fail); or before that spawnSync(nginx, ['-t', ...]), whose .error says so",
  ],
  [
    ({ fate }) => fate.code !== 1,
    ({ fate }) => `it ${endOf(fate)}.`,
    'Whatever started it looks at the exit code, and takes 0 for "all is well".',
    'process.exitCode = 1;',
  ],
  [
    ({ says, output }) => !says.test(output),
    ({ says }) => `it did not say why: nothing that it printed matches ${says}.`,
    "nginx says so on stderr; spawn passes that on with stdio: 'inherit'. A missing nginx is an 'error' event of the child.",
    "stdio: 'inherit', and your own message",
  ],
  [
    ({ left }) => left.length > 0,
    ({ left }) => `process ${list(left)} is still there.`,
    'The servers were up before nginx was meant to start.',
    'stopAll() before it ends',
  ],
  [
    ({ files }) => files.length > 0,
    ({ files }) => `${list(files)} is left in the folder for temporary files.`,
    'The folder was made before nginx was meant to start.',
    'have one way out, whatever the cause: the function that stops also removes the folder',
  ],
  [
    ({ touched }) => touched,
    ({ touched }) => `${touched}, where the first one has its files, was changed or removed.`,
    'A name that is the same each time, or depends only on the port, leads two programs to one folder. The one that cannot start removes what the other needs.',
    "mkdtempSync(join(tmpdir(), 'nginx-')): a new folder each time",
  ],
];

export function demandReasons(ends) {
  for (const end of ends) {
    const expected = `When ${end.how}: a message that says so, exit code 1, and nothing is left.`;
    const [unheard] = /spawn \S+ E[A-Z]+/.exec(whyOfCrash(end.events) ?? '') ?? [];
    demandNone(VAIN_FAULTS, {
      facts: { ...end, unheard },
      how: end.how,
      expected,
      shows: endsShown(end.program),
      output: end.output,
    });
  }
}
