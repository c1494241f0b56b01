import { setTimeout as sleep } from 'node:timers/promises';

/** Eight requests for / at once, and somebody who asks for /health again and again. */
export default [
  {
    name: 'blocked-loop',
    title: 'A blocked event loop',
    async perform({ launch, ask, say, begin }) {
      const program = await launch('solutions/01-blocking-server/server.js', { as: 'server' });
      await program.ready(1);
      begin();
      say('The server is idle: /health is answered at once.');
      await ask(`${program.url}/health`);
      await sleep(300);
      say('Twenty requests for / at once, then /health, which needs no time.');
      const homes = Array.from({ length: 20 }, () => ask(`${program.url}/`));
      await program.until((events) => events.some(({ url }) => url === '/'));
      const behind = await ask(`${program.url}/health`);
      await Promise.all(homes);
      const waited = Math.round(behind.doneMs - behind.sentMs);
      say(`/health waited for ${waited} ms behind the others. The thread ran one after the other.`);
      await sleep(300);
    },
  },
];
