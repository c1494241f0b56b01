/** Where the messages of a demo come from: from the server while it performs, or from what is known of it. */
const token = document.querySelector('meta[name=token]')?.getAttribute('content') ?? '';
const TICK_MS = 33;

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

/** What was recorded of a demo. @returns {Promise<any[]>}  each with `at`, milliseconds from the first */
export async function recordingOf(name, signal) {
  const response = await fetch(`recordings/${name}.json`, { signal });
  if (!response.ok) throw new Error('It was not recorded.');
  return response.json();
}

/**
 * Plays messages that are known, with a time that can be held and moved. What falls due while the page is busy is taken in at
 * once: frames are left out, never time.
 * @param {any[]} messages  each with `at`, milliseconds from the first
 * @param {object} stage
 * @param {{ begin(): void, take(message: any): void, draw(ms: number): void, finish(): void }} stage.scene
 * @param {number} [stage.slower]
 * @param {boolean} [stage.isShown]  the scene has taken all of them already
 * @param {(atMs: number) => void} stage.onTime  told where it is
 * @param {() => void} stage.onEnd
 */
export function createPlayback(messages, { scene, slower = 1, isShown = false, onTime, onEnd }) {
  const durationMs = messages.at(-1)?.at ?? 0;
  let atMs = isShown ? durationMs : 0;
  let taken = isShown ? messages.length : 0;
  let timer;
  let zero = { at: 0, origin: 0 }; // of the page's time and of the timeline

  function takeUntil(untilMs) {
    while (taken < messages.length && messages[taken].at <= untilMs) {
      const message = messages[taken];
      if (message.origin !== undefined) zero = { at: message.at, origin: message.origin };
      scene.take(message);
      taken += 1;
    }
    atMs = untilMs;
  }

  function show() {
    onTime(atMs);
    if (atMs >= durationMs) scene.finish();
    else scene.draw(zero.origin + atMs - zero.at);
  }

  function play(since = performance.now(), from = atMs) {
    takeUntil(Math.min(durationMs, from + (performance.now() - since) / slower));
    show();
    if (atMs < durationMs) timer = setTimeout(() => play(since, from), TICK_MS);
    else onEnd();
  }

  function hold() {
    clearTimeout(timer);
    timer = undefined;
  }

  return {
    durationMs,
    play: () => play(),
    hold,
    /** Shows another moment, and stays there. @param {number} ms */
    seek(ms) {
      hold();
      if (ms < atMs) {
        scene.begin();
        taken = 0;
      }
      takeUntil(Math.min(durationMs, Math.max(0, ms)));
      show();
    },
  };
}
