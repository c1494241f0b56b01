// breaks: stops-clean, gives-up
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

const workers = process.env.NODE_CLUSTER_WORKERS ?? availableParallelism();
const env = { ...process.env, PORT: process.env.PORT ?? '8080', NITRO_CLUSTER_WORKERS: `${workers}` };
const build = fileURLToPath(new URL('.output/node-cluster/server/index.mjs', import.meta.url));

// A signal ends this process, and the cluster goes on.
const child = spawn(process.execPath, [build], { env, stdio: 'inherit' });
child.on('exit', (code) => process.exit(code));
