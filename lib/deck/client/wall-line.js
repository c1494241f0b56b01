/**
 * The wall's line to the speaker's window, a BroadcastChannel.
 *
 * To the wall: { hello } asks what is shown; { go: 'forward' | 'back' } and { goTo: id } turn the slide; { key } is a key that
 * was pressed there; { press: n } is the n-th button of the demo that is shown; { plan } asks for that plan's slides; { wish }
 * is what the wall has to show beside its slides: { hands: { vote: counts }, countdown: { endsMs, kind, id } | null, progress },
 * the last as class-line.js says.
 * From the wall: { now: { plan, id, step, steps, isBlack, isOverview, demo } } after every change, and { picture: { id, html } },
 * the demo as it is drawn. That it has been closed is
 * learnt by waiting for its lock: a page that goes has no time to say so.
 */
import { ballotOf, saidIn, showVote } from './ballot.js';
import { showProgress } from './class-line.js';
import { createMirror } from './mirror.js';
import { all, make } from '../../web/client/elements.js';
import { stopwatch } from './pace.js';
import { stepsOf } from './steps.js';
import { chapterOf, drawCounts, voteOn } from './vote.js';

const TICK_MS = 250;
/** Where a demo has its buttons and its sentence. */
const CONTROLS = 'figure.demo .desk, figure.demo .transport';
/** A lock that every open wall holds, with others. */
export const WALL_LOCK = 'forkshop-wall';

/** @param {any} deck  reveal.js  @param {() => void} forward  a step further */
export function connectWall(deck, forward) {
  const channel = new BroadcastChannel('forkshop-deck');
  const sign = make('div', { className: 'countdown', hidden: true });
  const watcher = new MutationObserver(tell);
  const mirror = createMirror((picture) => channel.postMessage({ picture }));
  let wish = { hands: {}, countdown: null, progress: {} };
  let lastTold = '';
  sign.setAttribute('role', 'timer');
  channel.addEventListener('message', ({ data }) => obey(data));
  for (const name of ['paused', 'resumed', 'overviewshown', 'overviewhidden']) deck.on(name, tell);
  navigator.locks?.request(WALL_LOCK, { mode: 'shared' }, () => new Promise(() => {})); // for as long as this page lives
  setInterval(() => {
    showCountdown();
    showTime();
    mirror.look(deck.getCurrentSlide());
  }, TICK_MS);

  function obey({ go, goTo, key, press, plan, wish: wanted, hello }) {
    if (plan !== undefined && plan !== document.body.dataset.plan) return void showPlan(plan);
    if (go === 'forward') forward();
    if (go === 'back') deck.prev();
    if (goTo) show(goTo);
    if (key) document.dispatchEvent(new KeyboardEvent('keydown', { ...key, bubbles: true }));
    if (press !== undefined) buttonsOf(deck.getCurrentSlide())[press]?.click();
    if (wanted) wish = wanted;
    if (hello) lastTold = '';
    if (hello) mirror.forget();
    if (wanted || hello) settle();
  }

  function show(id) {
    const index = deck.getSlides().findIndex((slide) => slide.id === id);
    if (index >= 0) deck.slide(index);
  }

  /** After every step. */
  function settle() {
    const slide = deck.getCurrentSlide();
    watcher.disconnect();
    const whole = { subtree: true, childList: true, characterData: true, attributes: true };
    for (const part of all(CONTROLS, slide)) watcher.observe(part, whole);
    const vote = voteOn(slide, slide.id);
    if (vote) drawCounts(slide, wish.hands[vote.name] ?? []);
    const hands = wish.hands[chapterOf(slide.id)] ?? [];
    showProgress(slide, chapterOf(slide.id), wish.progress);
    for (const figure of all('figure.demo[data-vote]', slide)) showSaid(figure, slide.id, hands);
    showCountdown();
    showTime();
    tell();
  }

  /** On an opener: what time it is. */
  function showTime() {
    const [place] = all('.opener .now', deck.getCurrentSlide());
    const words = timeOf(Date.now());
    if (place && place.textContent !== words) place.textContent = words;
  }

  function showSaid(figure, id, hands) {
    const slides = deck.getSlides().filter((slide) => chapterOf(slide.id) === chapterOf(id));
    const vote = slides.map(ballotOf).find((svg) => svg?.dataset.ballot === 'vote');
    if (vote) showVote(figure, saidIn(vote, hands, Number(figure.dataset.vote)));
  }

  /** Says what is on the wall, when it is not what was said last. */
  function tell() {
    const slide = deck.getCurrentSlide();
    const steps = stepsOf(slide);
    const now = {
      plan: document.body.dataset.plan,
      id: slide.id,
      step: steps.filter((group) => group.every((one) => one.classList.contains('visible'))).length,
      steps: steps.length,
      isBlack: deck.isPaused(),
      isOverview: deck.isOverview(),
      demo: demoOf(slide),
    };
    const text = JSON.stringify(now);
    if (text !== lastTold) channel.postMessage({ now });
    lastTold = text;
  }

  /** The address keeps the slide, if the plan has it. */
  function showPlan(plan) {
    location.search = `?plan=${plan}`;
  }

  function showCountdown() {
    const { countdown } = wish;
    const slide = deck.getCurrentSlide();
    const leftMs = Math.max(0, (countdown?.endsMs ?? 0) - Date.now());
    const isBreak = countdown?.kind === 'break';
    sign.hidden = !countdown || (leftMs === 0 && !isBreak && slide.id !== countdown.id); // one that is over stays where it began
    if (sign.hidden) return;
    if (sign.parentElement !== slide) slide.append(sign);
    const kind = isBreak ? 'break' : slide.id === countdown.id ? 'here' : 'aside';
    sign.className = `countdown ${kind}${leftMs === 0 ? ' over' : ''}`;
    const clock = stopwatch(Math.ceil(leftMs / 1_000) * 1_000);
    const lines = isBreak ? ['Break', clock, `We go on at ${timeOf(countdown.endsMs)}`] : [clock];
    if (sign.dataset.shows === lines.join()) return;
    sign.dataset.shows = lines.join();
    sign.replaceChildren(...lines.map((textContent) => make('span', { textContent })));
  }

  return { settle };
}

/** @param {ParentNode} slide */
const buttonsOf = (slide) =>
  /** @type {HTMLButtonElement[]} */ (all(CONTROLS, slide).flatMap((part) => all('button', part)));

function demoOf(slide) {
  const status = slide.querySelector('figure.demo .status');
  if (!status) return null;
  const buttons = buttonsOf(slide).map(({ textContent, hidden, disabled }) => {
    return { text: textContent, isHidden: hidden, isDisabled: disabled };
  });
  const hasRun = slide.querySelector('figure.demo[data-seen]') !== null;
  return { says: status.textContent, buttons, hasRun };
}

/** "14:05". @param {number} ms */
export const timeOf = (ms) =>
  new Date(ms).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
