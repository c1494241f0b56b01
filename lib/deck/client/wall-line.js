/**
 * The wall's line to the speaker's window, a BroadcastChannel.
 *
 * To the wall: { hello } asks what it shows; { go: 'forward' | 'back' } and { goTo: id } turn the slide; { key } was pressed in
 * the speaker's window; { press: n } clicks the n-th button of the current demo; { plan } asks for that plan's slides;
 * { additions: Additions } is what the wall draws on top of them.
 * From the wall: { now: { plan, id, step, steps, isBlack, isOverview, demo } } after every change, and { picture: { id, html } },
 * the drawing of a demo. A wall that closes releases its lock: a closing page has no time for a message.
 *
 * @typedef {object} Additions
 * @property {import('./vote.js').Counts} hands
 * @property {import('./countdown.js').Countdown | null} countdown
 * @property {import('./board-line.js').BoardCounts} progress
 */
import { ballotOf, showVote, votesInRow } from './ballot.js';
import { showProgress } from './board-line.js';
import { createCountdown, timeOf } from './countdown.js';
import { createMirror } from './mirror.js';
import { all } from '../../web/client/elements.js';
import { stepsOf } from './steps.js';
import { chapterOf, drawCounts, voteOn } from './vote.js';

const TICK_MS = 250;
/** The parts of a demo that have its buttons and its sentence. */
const CONTROLS = 'figure.demo .desk, figure.demo .transport';
const EVERY_CHANGE = { subtree: true, childList: true, characterData: true, attributes: true };
/** A shared lock that every open wall holds. */
export const WALL_LOCK = 'forkshop-wall';

export class WallLine {
  #deck;
  #forward;
  #channel = new BroadcastChannel('forkshop-deck');
  #watcher = new MutationObserver(() => this.#report());
  #mirror = createMirror((picture) => this.#channel.postMessage({ picture }));
  #countdown = createCountdown();
  /** @type {Additions} */
  #additions = { hands: {}, countdown: null, progress: {} };
  #lastReport = '';

  /** @param {any} deck  reveal.js  @param {() => void} forward  takes the next step */
  constructor(deck, forward) {
    this.#deck = deck;
    this.#forward = forward;
    this.#channel.addEventListener('message', ({ data }) => this.#obey(data));
    for (const name of ['paused', 'resumed', 'overviewshown', 'overviewhidden'])
      deck.on(name, () => this.#report());
    navigator.locks?.request(WALL_LOCK, { mode: 'shared' }, () => new Promise(() => {})); // held until this page closes
    setInterval(() => this.#tick(), TICK_MS);
  }

  /** To be called after every step. */
  settle() {
    const slide = this.#deck.getCurrentSlide();
    this.#watcher.disconnect();
    for (const part of all(CONTROLS, slide)) this.#watcher.observe(part, EVERY_CHANGE);
    this.#showAdditions(slide);
    this.#showTimes(slide);
    this.#report();
  }

  #tick() {
    const slide = this.#deck.getCurrentSlide();
    this.#showTimes(slide);
    this.#mirror.look(slide);
  }

  #showTimes(/** @type {HTMLElement} */ slide) {
    this.#countdown.show(slide, this.#additions.countdown);
    showTimeOfDay(slide);
  }

  #obey({ go, goTo, key, press, plan, additions, hello }) {
    if (plan !== undefined && plan !== document.body.dataset.plan) return void openPlan(plan);
    if (go === 'forward') this.#forward();
    if (go === 'back') this.#deck.prev();
    if (goTo) this.#goTo(goTo);
    if (key) document.dispatchEvent(new KeyboardEvent('keydown', { ...key, bubbles: true }));
    if (press !== undefined) buttonsOf(this.#deck.getCurrentSlide())[press]?.click();
    if (additions) this.#additions = additions;
    if (hello) this.#forgetReports();
    if (additions || hello) this.settle();
  }

  #goTo(/** @type {string} */ id) {
    const index = this.#deck.getSlides().findIndex((slide) => slide.id === id);
    if (index >= 0) this.#deck.slide(index);
  }

  #showAdditions(/** @type {HTMLElement} */ slide) {
    const { hands, progress } = this.#additions;
    const chapter = chapterOf(slide.id);
    const vote = voteOn(slide, slide.id);
    if (vote) drawCounts(slide, hands[vote.name] ?? []);
    showProgress(slide, chapter, progress);
    for (const figure of all('figure.demo[data-vote]', slide))
      this.#showVoteAt(figure, chapter, hands[chapter] ?? []);
  }

  /** Beside a demo, the votes for the question that it answers. */
  #showVoteAt(/** @type {HTMLElement} */ figure, /** @type {string} */ chapter, hands) {
    const slides = this.#deck.getSlides().filter(({ id }) => chapterOf(id) === chapter);
    const vote = slides.map(ballotOf).find((svg) => svg?.dataset.ballot === 'vote');
    if (vote) showVote(figure, votesInRow(vote, hands, Number(figure.dataset.vote)));
  }

  #report() {
    const now = stateOf(this.#deck);
    const text = JSON.stringify(now);
    if (text !== this.#lastReport) this.#channel.postMessage({ now });
    this.#lastReport = text;
  }

  /** A new speaker's window knows neither the state nor the picture. */
  #forgetReports() {
    this.#lastReport = '';
    this.#mirror.forget();
  }
}

/** The address keeps the slide, if the plan has it. */
function openPlan(/** @type {string} */ plan) {
  location.search = `?plan=${plan}`;
}

function showTimeOfDay(/** @type {HTMLElement} */ slide) {
  const [place] = all('.opener .now', slide);
  const words = timeOf(Date.now());
  if (place && place.textContent !== words) place.textContent = words;
}

function stateOf(/** @type {any} */ deck) {
  const slide = deck.getCurrentSlide();
  const steps = stepsOf(slide);
  return {
    plan: document.body.dataset.plan,
    id: slide.id,
    step: steps.filter((group) => group.every((one) => one.classList.contains('visible'))).length,
    steps: steps.length,
    isBlack: deck.isPaused(),
    isOverview: deck.isOverview(),
    demo: demoOf(slide),
  };
}

function demoOf(/** @type {HTMLElement} */ slide) {
  const status = slide.querySelector('figure.demo .status');
  if (!status) return null;
  const buttons = buttonsOf(slide).map(({ textContent, hidden, disabled }) => {
    return { text: textContent, isHidden: hidden, isDisabled: disabled };
  });
  const hasRun = slide.querySelector('figure.demo[data-seen]') !== null;
  return { says: status.textContent, buttons, hasRun };
}

/** @param {ParentNode} slide */
const buttonsOf = (slide) =>
  /** @type {HTMLButtonElement[]} */ (all(CONTROLS, slide).flatMap((part) => all('button', part)));
