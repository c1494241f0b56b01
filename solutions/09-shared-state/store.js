// #region imports
import { createClient } from '@redis/client';
import { within } from './limit.js';
// #endregion imports

const url = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379';

// In a worker: a counter that asks Redis, { add(name, id), read(name) }, both promise the count.
export function createStore() {
  // #region store
  // One step for Redis, which does one at a time: nothing comes in between.
  const ADD = `
    local answer = redis.call('GET', KEYS[2])
    if answer then return answer end
    local count = redis.call('INCR', KEYS[1])
    redis.call('SET', KEYS[2], count, 'EX', 600)
    return count`;

  const client = createClient({
    url,
    disableOfflineQueue: true, // away: an error now, nothing queued for later
    socket: { reconnectStrategy: 200 }, // tries again every 200 ms, for ever
  });
  // Without a listener an error would end the process.
  client.on('error', ({ message }) => console.error(`Redis: ${message}`));
  client.connect();

  const ask = async (command) => Number(await within(1_000, command, 'Redis does not answer'));
  return {
    add: (name, id) => ask(client.eval(ADD, { keys: [`count:${name}`, `id:${id}`] })),
    read: (name) => ask(client.get(`count:${name}`)),
  };
  // #endregion store
}
