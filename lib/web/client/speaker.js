/** The speaker's window: what is on the wall and what comes next, the notes, the clock, and the pace against the plan. */
import { all, isTaken, letGo } from './page.js';

const FORWARD = ['ArrowRight', 'PageDown', ' '];
const BACK = ['ArrowLeft', 'PageUp'];
const STARTED = 'forkshop-started'; // in the tab's own storage
const channel = new BroadcastChannel('forkshop-deck');
const slides = all('#slides > section');
const place = (id) => document.getElementById(id);
let startedAt = Number(sessionStorage.getItem(STARTED)) || Date.now();
let index = 0;

channel.addEventListener('message', ({ data }) => data.now && show(data.now));
place('forward').addEventListener('click', () => channel.postMessage({ go: 'forward' }));
place('back').addEventListener('click', () => channel.postMessage({ go: 'back' }));
place('restart').addEventListener('click', () => {
  startedAt = Date.now() - plannedMs(index);
  keepClock();
  tick();
});
for (const button of all('button')) button.addEventListener('click', letGo);
document.addEventListener('keydown', (event) => {
  if (isTaken(event)) return;
  const isForward = FORWARD.includes(event.key);
  if (!isForward && !BACK.includes(event.key)) return;
  event.preventDefault(); // else it scrolls
  channel.postMessage({ go: isForward ? 'forward' : 'back' });
});
keepClock();
channel.postMessage({ hello: true });
show({ id: slides[0].id, step: 0, steps: 0 });
setInterval(tick, 1_000);

function show({ id, step, steps }) {
  index = Math.max(
    0,
    slides.findIndex((slide) => slide.id === id),
  );
  const slide = slides[index];
  const next = slides[index + 1];
  place('place').textContent =
    `${slide.dataset.chapter}, slide ${index + 1} of ${slides.length}${steps > 0 ? `, step ${step} of ${steps}` : ''}`;
  place('now').replaceChildren(viewOf(slide, step));
  place('next').replaceChildren(next ? viewOf(next, 0) : 'This is the last slide.');
  const notes = slide.querySelector('.notes').innerHTML;
  if (place('talk').innerHTML !== notes) {
    place('talk').innerHTML = notes;
    place('talk').scrollTop = 0; // they begin at their top
  }
  tick();
}

/** A small copy with nothing that could be pressed: a demo is started on the wall only. */
function viewOf(slide, step) {
  const view = slide.querySelector('.slide').cloneNode(true);
  for (const [count, fragment] of view.querySelectorAll('.fragment').entries())
    fragment.classList.toggle('visible', count < step);
  for (const button of view.querySelectorAll('button')) button.replaceWith('[demo]');
  for (const one of view.querySelectorAll('[id], [tabindex]'))
    ['id', 'tabindex'].forEach((name) => one.removeAttribute(name));
  return view;
}

/** The clock goes on when the window is loaded again. */
function keepClock() {
  sessionStorage.setItem(STARTED, String(startedAt));
}

function plannedMs(count) {
  return Number(slides[count].dataset.planned) * 60_000;
}

/** The plan for this slide is a stretch: behind it only after its end, before it only before its beginning. */
function tick() {
  const elapsedMs = Date.now() - startedAt;
  const seconds = Math.floor(elapsedMs / 1_000);
  place('clock').textContent =
    `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  const toMs = plannedMs(index) + Number(slides[index].dataset.minutes) * 60_000;
  const late = Math.max(0, elapsedMs - toMs) / 60_000;
  const early = Math.max(0, plannedMs(index) - elapsedMs) / 60_000;
  const words =
    late >= 1
      ? `${Math.floor(late)} min behind`
      : early >= 1
        ? `${Math.floor(early)} min ahead`
        : 'on time';
  place('pace').textContent = words;
}
