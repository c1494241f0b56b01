let last = 0;
const waiting = new Map();

process.on('message', ({ number, result }) => {
  waiting.get(number)?.(result);
  waiting.delete(number);
});

export function ask(method, value) {
  last += 1;
  process.send({ number: last, method, value });
  return new Promise((resolve) => waiting.set(last, resolve));
}
