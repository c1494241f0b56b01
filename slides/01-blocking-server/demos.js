import { setTimeout as sleep } from 'node:timers/promises';
import { askAtOnce } from '../../lib/check/checking.js';

const AT_ONCE = 20;
const PAUSE_MS = 250;

const waited = ({ sentMs, doneMs }) => `${Math.round(doneMs - sentMs)} ms`;

/** /health by itself, behind twenty requests that block, and beside twenty that wait. */
export default [
  {
    name: 'blocked-loop',
    title: 'A blocked event loop',
    async perform({ launch, ask, say, begin }) {
      say('The server starts and warms up.');
      const program = await launch('solutions/01-blocking-server/server.js', { as: 'server' });
      await program.ready(1);
      for (const path of ['/', '/health', '/report']) await askAtOnce(program, path, 1); // the first is slower
      await program.drained();
      begin();
      say('No other client is waiting: /health is answered at once.');
      const alone = await ask(`${program.url}/health`);
      await sleep(PAUSE_MS);
      say(`${AT_ONCE} requests for / at once. They block. Then one for /health.`);
      const behind = await askBehind('/', { program, ask });
      await sleep(PAUSE_MS);
      say(`${AT_ONCE} requests for /report at once. They wait. Then one for /health.`);
      const beside = await askBehind('/report', { program, ask });
      await sleep(PAUSE_MS);
      say(
        `/health alone: ${waited(alone)}. Behind ${AT_ONCE} that block: ${waited(behind)}. ` +
          `Beside ${AT_ONCE} that wait: ${waited(beside)}.`,
      );
    },
  },
];

/** Asks for /health as soon as the first of the many is being served. */
async function askBehind(path, { program, ask }) {
  const before = program.events.length;
  const many = Array.from({ length: AT_ONCE }, () => ask(program.url + path));
  await program.until((events) => events.slice(before).some(({ url }) => url === path));
  const health = await ask(`${program.url}/health`);
  await Promise.all(many);
  return health;
}
