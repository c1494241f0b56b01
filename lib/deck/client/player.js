/** The messages of a demo: live from the server, or from a recording, with a player for those. */
const token = document.querySelector('meta[name=token]')?.getAttribute('content') ?? '';
const TICK_MS = 33;

/**
 * The messages of a live demo: the server performs it until the signal aborts this request.
 * @param {string} name  @param {import('./ballot.js').OptionVotes[]} votes  on its question  @param {AbortSignal} signal
 */
export async function* performed(name, votes, signal) {
  const response = await fetch(`/demos/${name}`, {
    method: 'POST',
    headers: { 'x-forkshop-token': token, 'content-type': 'application/json' },
    body: JSON.stringify({ votes }),
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

/** @returns {Promise<any[]>}  the recorded messages, each with `at`, ms since the first */
export async function recordingOf(name, signal) {
  const response = await fetch(`recordings/${name}.json`, { signal });
  if (!response.ok) throw new Error('It was not recorded.');
  return response.json();
}

/**
 * Plays known messages in their own time, which can be paused and moved. Messages that fall due while the page is busy are
 * taken at once: the page skips frames, never time.
 */
export class Playback {
  #messages;
  #stage;
  #atMs = 0;
  #takenCount = 0;
  #timer;
  /** One moment, on the playback's clock and on the timeline's. */
  #origin = { at: 0, timelineMs: 0 };

  /**
   * @param {any[]} messages  each with `at`, ms since the first
   * @param {{ scene: ReturnType<typeof import('./scene.js').createScene>, slower?: number, isShown?: boolean,
   *   onTime: (atMs: number) => void, onEnd: () => void }} stage  isShown: the scene has taken all messages already
   */
  constructor(messages, { slower = 1, isShown = false, ...stage }) {
    this.#messages = messages;
    this.#stage = { slower, ...stage };
    this.durationMs = messages.at(-1)?.at ?? 0;
    if (!isShown) return;
    this.#atMs = this.durationMs;
    this.#takenCount = messages.length;
  }

  play(sinceMs = performance.now(), fromMs = this.#atMs) {
    const playedMs = (performance.now() - sinceMs) / this.#stage.slower;
    this.#takeUntil(Math.min(this.durationMs, fromMs + playedMs));
    this.#show();
    if (this.#atMs >= this.durationMs) return this.#stage.onEnd();
    this.#timer = setTimeout(() => this.play(sinceMs, fromMs), TICK_MS);
  }

  hold() {
    clearTimeout(this.#timer);
  }

  /** Shows another moment, and stays there. @param {number} ms */
  seek(ms) {
    this.hold();
    if (ms < this.#atMs) {
      this.#stage.scene.begin();
      this.#takenCount = 0;
    }
    this.#takeUntil(Math.min(this.durationMs, Math.max(0, ms)));
    this.#show();
  }

  #takeUntil(/** @type {number} */ untilMs) {
    while (this.#messages[this.#takenCount]?.at <= untilMs) {
      const message = this.#messages[this.#takenCount];
      const { at, origin } = message;
      if (origin !== undefined) this.#origin = { at, timelineMs: origin };
      this.#stage.scene.take(message);
      this.#takenCount += 1;
    }
    this.#atMs = untilMs;
  }

  #show() {
    const { scene, onTime } = this.#stage;
    onTime(this.#atMs);
    if (this.#atMs >= this.durationMs) scene.finish();
    else scene.draw(this.#origin.timelineMs + this.#atMs - this.#origin.at);
  }
}
