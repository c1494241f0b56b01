// One hog: a thread spins; the first thread is idle, so that it notices when its parent exits (lib/common/lifeline.cjs).
import { Worker } from 'node:worker_threads';

new Worker('for (;;);', { eval: true });
