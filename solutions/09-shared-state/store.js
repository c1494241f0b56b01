// #region imports
import { createClient } from '@redis/client';
import { within } from './limit.js';
// #endregion imports

const url = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379';

// In a worker: a counter that asks Redis. Its add(name, id) and read(name) both promise the count.
export function createStore() {
  // #region store
  // Redis runs one script at a time: nothing comes in between.
  const ADD = `
    local answer = redis.call('GET', KEYS[2])
    if answer then return answer end
    local count = redis.call('INCR', KEYS[1])
    redis.call('SET', KEYS[2], count, 'EX', 600)
    return count`;

  const client = createClient({
    url,
    disableOfflineQueue: true, // no connection: an error now
    socket: { reconnectStrategy: 200 }, // tries again every 200 ms, forever
  });
  client.on('error', ({ message }) => console.error(`Redis: ${message}`));
  client.connect();

  const ask = async (command) => Number(await within(1_000, command, 'Redis does not answer'));
  return {
    add: (name, id) => ask(client.eval(ADD, { keys: [`count:${name}`, `id:${id}`] })),
    read: (name) => ask(client.get(`count:${name}`)),
  };
  // #endregion store
}
