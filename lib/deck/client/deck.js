/** The deck on the wall: reveal.js, the steps of code, the demos, and the channel to the speaker's window. */
// @ts-expect-error served from the package's own folder
import Reveal from '../../reveal/reveal.mjs';
import { Demo, listenForRecording } from './demo.js';
import { all, isTaken } from '../../web/client/elements.js';
import { focusLines } from './steps.js';
import { WallLine } from './wall-line.js';

const S_KEY = 83; // the speaker's window
const [SPACE, PAGE_DOWN, RIGHT] = [32, 34, 39];
const isStatic = 'static' in document.body.dataset;
const [wall] = all('.reveal');
const demos = new Map(); // by figure

const deck = new Reveal(wall, {
  width: 1280,
  height: 720,
  margin: 0.02,
  center: false,
  hash: true,
  jumpToSlide: false, // the speaker's window finds slides
  transition: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'none' : 'fade',
  transitionSpeed: 'fast',
  scrollActivationWidth: 0, // a narrow window shows slides too, where reveal.js would scroll
  keyboard: {
    [S_KEY]: () => window.open(speakerAddress(), 'forkshop-speaker'),
    [SPACE]: ({ shiftKey }) => (shiftKey ? deck.prev() : forward()),
    [PAGE_DOWN]: forward,
    [RIGHT]: forward,
  },
  keyboardCondition: (event) => !isTaken(event),
});

await deck.initialize();
wall.removeAttribute('role'); // "application" would take the reading keys from a screen reader
addDemos(wall);
const wallLine = new WallLine(deck, forward);
deck.on('slidechanged', ({ previousSlide }) => {
  for (const [figure, demo] of demos) if (previousSlide?.contains(figure)) demo.stop();
  settle();
});
listenForRecording(() => demos.values());
deck.on('fragmentshown', settle);
deck.on('fragmenthidden', settle);
addEventListener('pagehide', () => demos.forEach((demo) => demo.stop()));
settle();
if (!isStatic) followChanges();

/** A demo is the last step of its slide: a clicker has no other key to run it with. */
function forward() {
  if (deck.isOverview()) return deck.right();
  const slide = deck.getCurrentSlide();
  const isWhole = !slide.querySelector('.fragment:not(.visible)');
  const waiting = [...demos.values()].find(
    (demo) => slide.contains(demo.figure) && demo.isUntouched(),
  );
  if (isWhole && waiting) waiting.toggle();
  else deck.next();
}

function speakerAddress() {
  return isStatic ? 'speaker.html' : `speaker?plan=${document.body.dataset.plan}`;
}

/** The steps of code and the speaker's window follow the slide and its step. */
function settle() {
  focusLines(deck.getCurrentSlide());
  wallLine.settle();
}

/** Shows what an author saves, at once: the slide stays, and a running demo keeps running. */
function followChanges() {
  const changes = new EventSource('/changes');
  changes.addEventListener('message', async () => {
    const response = await fetch(location.pathname + location.search);
    if (!response.ok) return console.warn(await response.text());
    const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
    const sections = all('.slides > section', fresh);
    const here = deck.getCurrentSlide().id;
    const shown = all('.slides > section');
    const order = (list) => list.map(({ id }) => id).join();
    if (order(sections) !== order(shown)) return location.reload(); // the address holds the slide
    sections.forEach((section, index) => renew(shown[index], section));
    deck.sync();
    deck.slide(deck.getSlides().findIndex(({ id }) => id === here));
    settle();
  });
  addEventListener('pagehide', () => changes.close());
}

/** Replaces a slide's content, unless it is the same or its demo is running. */
function renew(slide, fresh) {
  const old = [...demos].filter(([figure]) => slide.contains(figure));
  if (old.some(([, demo]) => demo.isRunning())) return;
  if (slide.dataset.source === fresh.innerHTML) return;
  slide.dataset.source = fresh.innerHTML;
  for (const [figure] of old) demos.delete(figure);
  slide.replaceChildren(...fresh.childNodes);
  addDemos(slide);
}

function addDemos(/** @type {HTMLElement} */ place) {
  for (const figure of all('figure.demo', place)) demos.set(figure, new Demo(figure));
}
