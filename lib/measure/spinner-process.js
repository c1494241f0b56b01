/** The process of spinners.js. Each thread but the first counts how many rounds of a fixed amount of work it finishes in a given time. */
import { Worker, isMainThread, parentPort } from 'node:worker_threads';
import { nowMs } from '../observe/clock.js';
import { answerParent } from './generator.js';

const ROUND = 100_000;

if (isMainThread) lead(Number(process.argv[2]));
parentPort?.on('message', (untilMs) => parentPort?.postMessage(countRounds(untilMs)));

function lead(/** @type {number} */ count) {
  const threads = Array.from({ length: count }, () => new Worker(new URL(import.meta.url)));
  const areReady = Promise.all(threads.map((thread) => order(thread, 0)));
  answerParent(async ({ threads: wanted, durationMs }) => {
    await areReady;
    const startMs = nowMs();
    const used = threads.slice(0, wanted);
    const rounds = await Promise.all(used.map((thread) => order(thread, startMs + durationMs)));
    const sum = rounds.reduce((total, one) => total + one, 0);
    return (sum / (nowMs() - startMs)) * 1000;
  });
}

function order(thread, untilMs) {
  return new Promise((resolve) => {
    thread.once('message', resolve);
    thread.postMessage(untilMs);
  });
}

let value = 1;

function countRounds(untilMs) {
  let rounds = 0;
  while (nowMs() < untilMs) {
    for (let count = 0; count < ROUND; count += 1) value = Math.imul(value, 1_664_525) + 1;
    rounds += 1;
  }
  return rounds;
}
