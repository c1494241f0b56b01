import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE_MS = 250;

/** The first X-ray of the day: a server starts, and answers three requests, one after the other. */
export default [
  {
    name: 'first-look',
    title: 'A server starts and answers',
    async perform({ launch, ask, say, begin }) {
      say('The server starts.');
      const program = await launch('solutions/01-blocking-server/server.js', { as: 'server' });
      begin();
      await program.ready(1);
      const timeOf = (kind) => program.events.find(({ what }) => what === kind)?.t ?? NaN;
      const startMs = Math.round(timeOf('listening') - timeOf('start'));
      say('It listens. Now three requests, one after the other.');
      const took = [];
      for (const path of ['/', '/health', '/report']) {
        await sleep(PAUSE_MS);
        const { sentMs, doneMs } = await ask(program.url + path);
        took.push(`${path} took ${Math.round(doneMs - sentMs)} ms`);
      }
      await sleep(PAUSE_MS);
      say(`It listened ${startMs} ms after its first line. Then ${took.join(', ')}.`);
    },
  },
];
