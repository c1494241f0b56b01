// accepts: the build in its own process group, which gets the signal; an impossible PORT is refused
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

const { PORT = '8080', NODE_CLUSTER_WORKERS = `${availableParallelism()}` } = process.env;
if (!/^\d{1,5}$/.test(PORT) || Number(PORT) > 65_535) {
  console.error(`PORT=${PORT} is no port.`);
  process.exit(1);
}

const build = fileURLToPath(new URL('.output/node-cluster/server/index.mjs', import.meta.url));
const env = { ...process.env, PORT, NITRO_CLUSTER_WORKERS: NODE_CLUSTER_WORKERS };
const child = spawn(process.execPath, [build], { env, stdio: 'inherit', detached: true });
child.on('exit', (code, signal) => process.exit(signal ? 1 : code));
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.kill(-child.pid, signal));
