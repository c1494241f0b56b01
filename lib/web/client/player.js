/** Where the messages of a demo come from: from the server while it performs, or from a recording. */
const token = document.querySelector('meta[name=token]').getAttribute('content');

/** Live: the server performs for as long as this request is open. */
export async function* performed(name, signal) {
  const response = await fetch(`/demos/${name}`, {
    method: 'POST',
    headers: { 'x-forkshop-token': token },
    signal,
  });
  if (!response.ok) throw new Error(await response.text());
  const lines = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await lines.read();
    if (done) return;
    const parts = (rest + value).split('\n');
    rest = parts.pop();
    for (const line of parts) yield JSON.parse(line);
  }
}

/** What was recorded, each message at its time. */
export async function* recorded(name, signal) {
  const response = await fetch(`recordings/${name}.json`, { signal });
  if (!response.ok) throw new Error('It was not recorded.');
  yield* replayed(await response.json(), { signal });
}

/** @param {any[]} messages  each with `at`, milliseconds from the first  @param {{ signal: AbortSignal, slower?: number }} options */
export async function* replayed(messages, { signal, slower = 1 }) {
  const since = performance.now();
  for (const { at, ...message } of messages) {
    await pause(since + at * slower - performance.now(), signal);
    yield message;
  }
}

function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new Error('stopped'));
    const timer = setTimeout(resolve, Math.max(0, ms));
    signal.addEventListener('abort', () => (clearTimeout(timer), reject(new Error('stopped'))), {
      once: true,
    });
  });
}
