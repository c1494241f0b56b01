// Runs commands in their own PID, mount and network namespace: no process in there sees or signals a process outside.
import { spawnSync } from '../lib/common/child.js';
import { pidNamespace } from '../lib/observe/processes.js';

const KNOWN_OUTSIDE = 'FORKSHOP_TEST_OUTSIDE'; // the namespace from which a command was started in a new one

const SETTING_UP = `mount -t tmpfs -o size=1g tmpfs /dev/shm
  ip link set lo up 2>/dev/null || ifconfig lo up
  "$@"
  exit $?`; // without exec, since the command would be process 1, the parent of every orphan
const unshare = (/** @type {string[]} */ ...more) => [
  ...[
    'unshare',
    ...more,
    '--pid',
    '--fork',
    '--kill-child',
    '--mount',
    '--mount-proc',
    '--net',
    '--ipc',
  ],
  ...['sh', '-ec', SETTING_UP, 'sh'],
];

/** As root; else as root of a user namespace, if the system allows unprivileged ones. */
const WAYS = [unshare(), unshare('--user', '--map-root-user')];

const MISSING = 'This system allows no new namespaces (unshare --pid).';

/**
 * The prefix of a command, or why namespaces are unavailable here.
 * @returns {{ prefix: string[], missing: string | false }}  missing: for `skip`
 */
export function namespace() {
  const prefix = WAYS.find(([file, ...args]) => spawnSync(file, [...args, 'true']).status === 0);
  return { prefix: prefix ?? [], missing: !prefix && MISSING };
}

/** The environment of a command that is started with such a prefix. */
export const environmentApart = () => ({ [KNOWN_OUTSIDE]: pidNamespace() });

const outside = process.env[KNOWN_OUTSIDE];

/** For tests that signal many processes: they are skipped, with a reason, if they would run beside other processes. */
export const onlyApart = {
  skip:
    !(outside && pidNamespace() && pidNamespace() !== outside) &&
    `${MISSING} Or say: npm run test:unit`,
};
