/**
 * The speaker's window: what is on the wall and what comes next, the notes, the clock and the plan, the buttons of the demo
 * that is shown, a countdown and the hands of the class. wall-line.js says how the two windows talk.
 */
import { createFinder } from './slide-finder.js';
import { all, isTaken, letGo, make } from '../../web/client/elements.js';
import { createClassroom } from './speaker-class.js';
import { createClock } from './speaker-clock.js';
import { createPreflight } from './speaker-preflight.js';
import { showSteps } from './steps.js';
import { remember } from './remember.js';
import { WALL_LOCK } from './wall-line.js';

const FORWARD = ['ArrowRight', 'PageDown', ' '];
const BACK = ['ArrowLeft', 'PageUp'];
/** Keys of the wall's that it is not told of: they open a window or a field there, or ask for the whole screen. */
const OWN = /^([fgs?]|Tab|Enter|F\d+|Arrow(Up|Down))$/i;
const TICK_MS = 500;
const SLIDE_PX = 1280;
const NOTES_PX = { first: 21, least: 13, most: 41, by: 2, fits: 15 }; // fits: so small they become by themselves
const place = (id) => document.getElementById(id);
const channel = new BroadcastChannel('forkshop-deck');
const tell = (message) => channel.postMessage(message);
const isStatic = 'static' in document.body.dataset;
const { plan } = document.body.dataset;
const day = JSON.parse(place('day').textContent);
const { value: look, save } = remember(localStorage, 'forkshop-notes', { px: NOTES_PX.first });
let slides = all('#slides > section');
let now = { plan, id: slides[0].id, step: 0, steps: 0, demo: null, isBlack: false };

const classroom = createClassroom({ breakMinutes: () => clock.breakMinutes(), onChange: wish });
const clock = createClock({ day, plan, first: slides[0].id });
const preflight = createPreflight(place('talk'), { isStatic });
const finder = createFinder({ slides: () => slides, goTo: (id) => tell({ goTo: id }) });

channel.addEventListener('message', ({ data }) => data.now && hear(data.now));
press('forward', () => tell({ go: 'forward' }));
press('back', () => tell({ go: 'back' }));
press('find', () => finder.open());
press('overview', () => tell({ key: keyOf('o', 79) }));
press('black', () => tell({ key: keyOf('b', 66) }));
press('smaller', () => resize(-NOTES_PX.by));
press('larger', () => resize(NOTES_PX.by));
for (const button of all('button')) button.addEventListener('click', letGo);
document.addEventListener('keydown', onKey);
new ResizeObserver(scaleViews).observe(place('now'));
new ResizeObserver(fitNotes).observe(place('talk'));
resize(0);
scaleViews();
clock.begin();
tell({ hello: true });
setInterval(() => (clock.tick(), classroom.tick()), TICK_MS);
if (!isStatic) followChanges();

function press(name, act) {
  place(name).addEventListener('click', act);
}

const keyOf = (key, keyCode) => ({ key, keyCode, shiftKey: false });

function onKey(/** @type {KeyboardEvent} */ event) {
  const { key, keyCode, shiftKey, ctrlKey, altKey, metaKey } = event;
  if (isTaken(event) || ctrlKey || altKey || metaKey) return;
  if (place('finder').hasAttribute('open') && key === 'Escape') return; // closes it
  const isBack = BACK.includes(key) || (key === ' ' && shiftKey);
  const isSteering = isBack || FORWARD.includes(key);
  if (!isSteering && key !== 'g' && OWN.test(key)) return;
  event.preventDefault(); // else it scrolls
  if (isSteering) tell({ go: isBack ? 'back' : 'forward' });
  else if (key === 'g') finder.open();
  else tell({ key: { key, keyCode, shiftKey } });
}

/** What the wall has to show; told again whenever it may have forgotten. */
function wish() {
  tell({ wish: classroom.wish() });
}

function hear(told) {
  if (told.plan !== plan && !isStatic) return tell({ plan }); // the plan is chosen here
  const isNew = !place('alone').hidden;
  const isOther = told.id !== now.id || told.step !== now.step;
  if (isOther && !isNew) classroom.goOn();
  now = told;
  place('alone').hidden = true;
  show();
  if (!isNew) return;
  wish();
  navigator.locks?.request(WALL_LOCK, wallHasGone);
}

function wallHasGone() {
  place('alone').hidden = false;
  tell({ hello: true }); // one may have come meanwhile
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
  put('now', slide, step);
  if (step < steps) put('step', slide, step + 1);
  else put('step', next, 0);
  put('next', next, 0);
  showNotes(slide.querySelector('.notes').innerHTML);
  preflight.tell(slide, index === 0).then(fitNotes);
  showDemo();
  classroom.show(slide);
  clock.show(slide.id);
}

function put(name, slide, step) {
  const key = `${slide?.id} ${step}`;
  if (place(name).dataset.shows === key) return;
  place(name).dataset.shows = key;
  place(name).replaceChildren(slide ? viewOf(slide, step) : 'This is the last slide.');
}

/** A small copy with nothing that could be pressed. */
function viewOf(slide, step) {
  const view = slide.querySelector('.slide').cloneNode(true);
  showSteps(view, step);
  for (const button of view.querySelectorAll('button')) button.replaceWith('[demo]');
  for (const one of view.querySelectorAll('[id], [tabindex]'))
    ['id', 'tabindex'].forEach((name) => one.removeAttribute(name));
  return view;
}

function showNotes(notes) {
  const talk = place('talk');
  if (talk.dataset.of === notes) return;
  talk.dataset.of = notes;
  talk.innerHTML = notes;
  talk.scrollTop = 0; // they begin at their top
  fitNotes();
}

/** The buttons of the demo on the wall, and what it says. */
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

function resize(by) {
  const { least, most } = NOTES_PX;
  look.px = Math.min(most, Math.max(least, (Number(look.px) || NOTES_PX.first) + by));
  save();
  fitNotes();
}

/** As large as was chosen, and smaller where their end would have to be scrolled for. */
function fitNotes() {
  const talk = place('talk');
  let px = Number(look.px) || NOTES_PX.first;
  do talk.style.fontSize = `${px}px`;
  while (talk.scrollHeight > talk.clientHeight + 1 && (px -= 1) >= NOTES_PX.fits);
}

function scaleViews() {
  for (const view of all('.view'))
    view.style.setProperty('--scale', String(view.clientWidth / SLIDE_PX));
}

/** What an author saves is shown here, too. */
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
