/** The deck on the wall: reveal.js, the steps of code, the demos, and the line to the speaker's window. */
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
const demos = new Map();

const deck = new Reveal(wall, {
  width: 1280,
  height: 720,
  margin: 0.02,
  center: false,
  hash: true,
  controls: true,
  progress: true,
  slideNumber: false,
  jumpToSlide: false, // the speaker's window finds slides
  transition: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'none' : 'fade',
  transitionSpeed: 'fast',
  view: null,
  scrollActivationWidth: 0,
  keyboard: {
    [S_KEY]: () => window.open(speakerAddress(), 'forkshop-speaker'),
    [SPACE]: ({ shiftKey }) => (shiftKey ? deck.prev() : forward()),
    ...{ [PAGE_DOWN]: forward, [RIGHT]: forward },
  },
  keyboardCondition: (event) => !isTaken(event),
});

await deck.initialize();
wall.removeAttribute('role'); // "application" would take the reading keys from a screen reader
for (const figure of all('figure.demo')) demos.set(figure, new Demo(figure));
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

/** To be called after every step. */
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
    if (order(sections) === order(shown))
      sections.forEach((section, index) => renew(shown[index], section));
    else location.reload(); // the address holds the slide
    deck.sync();
    deck.slide(deck.getSlides().findIndex(({ id }) => id === here));
    settle();
  });
  addEventListener('pagehide', () => changes.close());
}

/** Replaces a slide's content, unless it is the same or its demo is running. */
function renew(shown, fresh) {
  const before = [...demos].filter(([figure]) => shown.contains(figure));
  if (before.some(([, demo]) => demo.isRunning())) return;
  if (shown.dataset.source === fresh.innerHTML) return;
  shown.dataset.source = fresh.innerHTML;
  for (const [figure] of before) demos.delete(figure);
  shown.replaceChildren(...fresh.childNodes);
  for (const figure of all('figure.demo', shown)) demos.set(figure, new Demo(figure));
}
