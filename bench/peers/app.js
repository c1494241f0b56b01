// The application that every peer serves: blocking work, CPU work, and an answer that a database keeps waiting.
import { setTimeout as sleep } from 'node:timers/promises';
import { blockFor, spinFor } from '../../lessons/work.js';

/** The answer for a path. @param {string} path @returns {Promise<string>} */
export async function work(path) {
  if (path === '/block') blockFor(10);
  else if (path === '/spin') return `${spinFor(5)}\n`;
  else await sleep(20);
  return 'done\n';
}

/** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
export async function handle({ url = '/' }, response) {
  response.end(await work(url));
}
