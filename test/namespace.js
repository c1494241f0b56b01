// Commands in a PID, mount and network namespace of their own: nothing in there sees or signals a process outside.
import { spawnSync } from '../lib/common/child.js';

const SETTING_UP = `mount -t tmpfs -o size=1g tmpfs /dev/shm
  ip link set lo up 2>/dev/null || ifconfig lo up
  "$@"
  exit $?`; // without exec: the command would be process 1, which every orphan has for its parent
const PREFIX = [
  ...['unshare', '--pid', '--fork', '--kill-child', '--mount', '--mount-proc', '--net', '--ipc'],
  ...['sh', '-ec', SETTING_UP, 'sh'],
];

/**
 * What goes in front of a command, or why it cannot be had here.
 * @returns {{ prefix: string[], missing: string | false }}  missing: for `skip`
 */
export function namespace() {
  const [file, ...args] = [...PREFIX, 'true'];
  const { status } = spawnSync(file, args);
  return {
    prefix: PREFIX,
    missing: status !== 0 && 'This system gives no namespaces of their own.',
  };
}
