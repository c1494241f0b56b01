/**
 * The speaker's window: the slide on the wall and the next, the notes, the clock, the buttons of the current demo, the countdown
 * and the votes. It talks to the wall as wall-line.js describes.
 */
import { connectBoard } from './board-line.js';
import { createFinder } from './slide-finder.js';
import { all, isTaken, letGo, make } from '../../web/client/elements.js';
import { ClassDesk } from './class-desk.js';
import { SpeakerClock } from './speaker-clock.js';
import { showStill, still } from './mirror.js';
import { createNotes } from './speaker-notes.js';
import { createPreflight } from './preflight.js';
import { showSteps } from './steps.js';
import { voteOn } from './vote.js';
import { WALL_LOCK } from './wall-line.js';

const FORWARD = ['ArrowRight', 'PageDown', ' '];
const BACK = ['ArrowLeft', 'PageUp'];
/** Keys that are not passed to the wall, where they would open a window or a field, or ask for the whole screen. */
const KEPT = /^([fgs?]|Tab|Enter|F\d+|Arrow(Up|Down))$/i;
const TICK_MS = 500;
const SLIDE_PX = 1280;
const place = (id) => document.getElementById(id);
const channel = new BroadcastChannel('forkshop-deck');
const tell = (message) => channel.postMessage(message);
const isStatic = 'static' in document.body.dataset;
const { plan } = document.body.dataset;
const day = JSON.parse(place('day').textContent);
let slides = all('#slides > section');
let picture = { id: '', html: '' };
let now = { plan, id: slides[0].id, step: 0, steps: 0, demo: null, isBlack: false };

const classDesk = new ClassDesk({ breakMinutes: () => clock.breakMinutes(), onChange: addToWall });
const clock = new SpeakerClock({ day, plan, first: slides[0].id });
const board = connectBoard({ isStatic, onCounts: (counts) => classDesk.takeCounts(counts) });
const notes = createNotes(place('talk'));
const preflight = createPreflight(place('talk'), { isStatic });
const finder = createFinder({ slides: () => slides, goTo: (id) => tell({ goTo: id }) });

channel.addEventListener('message', ({ data }) => {
  if (data.now) hear(data.now);
  if (data.picture) {
    picture = data.picture;
    showPicture();
  }
});
press('forward', () => tell({ go: 'forward' }));
press('back', () => tell({ go: 'back' }));
press('find', () => finder.open());
press('overview', () => tell({ key: keyOf('o', 79) }));
press('black', () => tell({ key: keyOf('b', 66) }));
press('smaller', notes.smaller);
press('larger', notes.larger);
for (const button of all('button')) button.addEventListener('click', letGo);
document.addEventListener('keydown', onKey);
new ResizeObserver(scaleViews).observe(place('now'));
scaleViews();
clock.begin();
tell({ hello: true });
setInterval(() => (clock.tick(), classDesk.tick()), TICK_MS);
if (!isStatic) followChanges();

function press(name, act) {
  place(name).addEventListener('click', act);
}

const keyOf = (key, keyCode) => ({ key, keyCode, shiftKey: false });

function onKey(/** @type {KeyboardEvent} */ event) {
  const { key, keyCode, shiftKey, ctrlKey, altKey, metaKey } = event;
  if (isTaken(event) || ctrlKey || altKey || metaKey) return;
  if (place('finder').hasAttribute('open') && key === 'Escape') return; // the dialog closes
  const isBack = BACK.includes(key) || (key === ' ' && shiftKey);
  const isSteering = isBack || FORWARD.includes(key);
  if (!isSteering && key !== 'g' && KEPT.test(key)) return;
  event.preventDefault(); // else it scrolls
  if (isSteering) tell({ go: isBack ? 'back' : 'forward' });
  else if (key === 'g') finder.open();
  else tell({ key: { key, keyCode, shiftKey } });
}

/** Sent again to each new wall, which knows none. */
function addToWall() {
  tell({ additions: classDesk.additions() });
}

function hear(told) {
  if (told.plan !== plan && !isStatic) return tell({ plan }); // the plan is chosen here
  const isNew = !place('alone').hidden;
  const isOther = told.id !== now.id || told.step !== now.step;
  if (isOther && !isNew) classDesk.goOn();
  now = told;
  place('alone').hidden = true;
  show();
  if (!isNew) return;
  addToWall();
  navigator.locks?.request(WALL_LOCK, wallHasGone);
}

function wallHasGone() {
  place('alone').hidden = false;
  tell({ hello: true }); // another wall may be open
}

function show() {
  const { id, step, steps } = now;
  const index = Math.max(
    0,
    slides.findIndex((slide) => slide.id === id),
  );
  const slide = slides[index];
  const next = slides[index + 1];
  const count = steps > 0 ? `, step ${step} of ${steps}` : '';
  const black = now.isBlack ? 'The wall is black. ' : '';
  const words = `Slide ${index + 1} of ${slides.length}${count}: ${slide.dataset.chapter}`;
  place('place').textContent = `${black}${words}`;
  if (put('now', slide, step)) showPicture();
  if (step < steps) put('step', slide, step + 1);
  else put('step', next, 0);
  put('next', next, 0);
  notes.show(slide.querySelector('.notes').innerHTML, step);
  preflight.tell(slide, index === 0).then(notes.fit);
  showDemo();
  classDesk.show(slide);
  openVote(slide);
  clock.show(slide.id, Number(slide.dataset.minutes));
}

function put(name, slide, step) {
  const key = `${slide?.id} ${step}`;
  if (place(name).dataset.shows === key) return false;
  place(name).dataset.shows = key;
  place(name).replaceChildren(slide ? viewOf(slide, step) : 'This is the last slide.');
  return true;
}

function showPicture() {
  if (picture.id === now.id) showStill(place('now'), picture.html);
}

function viewOf(slide, step) {
  const view = still(slide.querySelector('.slide'));
  showSteps(view, step);
  return view;
}

/** Learners can vote on their own pages while the slide asks and its demo has not run. */
function openVote(slide) {
  const vote = voteOn(place('now'), slide.id);
  const isOpen = vote && vote.kind !== 'answer' && !now.demo?.hasRun;
  board.open(isOpen ? vote : null, slide.querySelector('h1').textContent);
}

function showDemo() {
  const { demo } = now;
  place('demo').hidden = !demo;
  if (!demo) return;
  place('says').textContent = demo.says;
  const text = JSON.stringify(demo.buttons);
  if (place('presses').dataset.of === text) return;
  place('presses').dataset.of = text;
  const buttons = demo.buttons.map(({ text: textContent, isHidden, isDisabled }, index) => {
    const button = make('button', { type: 'button', textContent });
    Object.assign(button, { hidden: isHidden, disabled: isDisabled });
    button.addEventListener('click', () => tell({ press: index }));
    return button;
  });
  place('presses').replaceChildren(...buttons);
}

function scaleViews() {
  for (const view of all('.view'))
    view.style.setProperty('--scale', String(view.clientWidth / SLIDE_PX));
}

function followChanges() {
  const changes = new EventSource('/changes');
  changes.addEventListener('message', async () => {
    const response = await fetch(`${location.pathname}?plan=${plan}`);
    if (!response.ok) return console.warn(await response.text());
    const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
    place('slides').replaceChildren(...fresh.getElementById('slides').childNodes);
    slides = all('#slides > section');
    for (const view of all('.view')) delete view.dataset.shows;
    show();
  });
  addEventListener('pagehide', () => changes.close());
}
