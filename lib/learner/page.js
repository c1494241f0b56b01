/** The learner's page as HTML; without JavaScript it shows the text, but no verdicts. */
import { taskHeading } from '../verdict/other-promises.js';
import { unitInWords } from '../verdict/terminal.js';
import { escapeHtml } from '../web/code.js';
import { page } from '../web/page-shell.js';
import { renderText } from './lesson-text.js';

/** @typedef {import('../lessons/catalog.js').Lesson} Lesson */

/**
 * @param {Lesson} lesson
 * @param {{ lessons: Lesson[], current: string, passed: Record<string, unknown>, promises: Record<string, string>,
 *   tasks: import('../lessons/tasks.js').Task[], hints: import('./serve.js').Hints, token: string, isJoined?: boolean }} setting
 *   current: the key of the next lesson; isJoined: to the board of a class
 * @returns {string}
 */
export function lessonPage(lesson, { lessons, current, passed, hints, token, isJoined, ...check }) {
  const { key, number, title } = lesson;
  const about = { lessons, current, passed };
  const body = `<a class="skip" href="#text">To the text</a>
<header class="top"><p class="brand"><a href="/">Forkshop</a></p>
${pills(lesson, about)}
<p id="status"><a class="to-text" href="#text">Text</a> <a class="to-verdict" href="#verdict">Not checked yet</a></p></header>
<p id="followed" class="note" role="status" hidden></p>
${isJoined ? ballot : ''}<div class="columns">
<main id="text" data-lesson="${key}" data-number="${number}">
<p class="where">${where(lesson, about)}</p>
${renderText(lesson)}
${map(about)}
</main>
<aside id="verdict" aria-labelledby="verdict-title">
${verdict(lesson, check, { hints, isJoined })}
</aside>
</div>`;
  return page(
    `${number} ${title} · Forkshop`,
    { token },
    {
      styles: ['web/client/theme.css', 'web/client/learner.css'],
      script: 'learner/client/learner.js',
      bodyClass: 'learner',
      body,
    },
  );
}

const isAsked = ({ text }) => text.includes('--predict'); // for a prediction

function taskItems({ tasks, promises }) {
  return tasks.map((task) => {
    const items = task.promises.map(
      (id) =>
        `<li data-id="${escapeHtml(id)}" data-verdict="waiting"><span class="sign" aria-hidden="true">·</span> ` +
        `<span class="sentence">${escapeHtml(promises[id])}</span></li>`,
    );
    return (
      `<details class="task" data-task="${task.number}" open><summary><span class="heading">${escapeHtml(taskHeading(task))}</span></summary>\n` +
      `<ol>${items.join('\n')}</ol></details>`
    );
  });
}

function verdict(lesson, check, { hints, isJoined }) {
  const { key, number } = lesson;
  return `<div class="head"><h2 id="verdict-title">Lesson ${number}: what your server does</h2>
<p class="actions" hidden>${isJoined ? hand : ''}<button type="button" id="check">Check now</button></p></div>
<p id="summary" role="status">Whenever you save <code>lessons/${key}/server.js</code>, it is checked, and these promises are judged.</p>
<p id="save-error" class="note" role="status" hidden></p>
<p id="activity" role="status" hidden></p>
${isJoined ? '<p id="hand-note" class="note" role="status" hidden></p>' : ''}
<p id="next" hidden><a href="/">Next</a></p>
<noscript><p class="note">Without JavaScript this page shows the text only. The terminal tells the verdict.</p></noscript>
<div id="promises">${taskItems(check).join('\n')}</div>
<div id="story" hidden></div>
<figure id="scene" hidden></figure>
<section id="numbers" aria-label="What was measured" hidden></section>
<section id="evidence" class="evidence" aria-label="What happened in this check" hidden></section>
${isAsked(lesson) ? prediction(lesson) : ''}
<section id="hints" aria-label="Hints" hidden><ol>${hints.shown.map((hint) => `<li>${escapeHtml(hint)}</li>`).join('')}</ol>
<p><button type="button" id="hint" data-task="${escapeHtml(hints.name)}">A hint</button></p></section>
<section id="page-actions" aria-label="Go further" hidden></section>`;
}

const UNITS = { ms: 'milliseconds', s: 'seconds', times: 'times' };

const hand = '<button type="button" id="hand">Raise your hand</button> ';

const ballot = '<section id="ballot" aria-labelledby="ballot-title" hidden></section>\n';

const prediction = ({
  predicts,
}) => `<section id="prediction" aria-labelledby="prediction-title" hidden>
<h3 id="prediction-title">First, your prediction</h3>
<p id="prediction-note" role="status"></p>
<form><label for="predicted">The number that the text asks you for, before it is measured${predicts ? `, in ${UNITS[predicts]}` : ''}</label>
<p><input id="predicted" name="predicted" inputmode="decimal" autocomplete="off" size="8">${predicts ? ` <span class="unit">${unitInWords(predicts)}</span>` : ''}
<button type="submit">That is my prediction</button></p>
<p id="prediction-fault" role="alert"></p></form></section>`;

function where({ number, minutes, key }, { lessons, passed }) {
  const state = passed[key] ? 'passed' : 'not passed yet';
  return `Lesson ${number} of ${lessons.length} · about ${minutes} minutes · <span data-passed="${key}">${state}</span>`;
}

/** A mark for each lesson: its number for the eye, all of it for a screen reader. */
function pills(here, { lessons, current, passed }) {
  const items = lessons.map(({ key, number, title, minutes }) => {
    const now = here.key === key ? ' aria-current="page"' : '';
    const words = `Lesson ${number}: ${title}, ${minutes} minutes${passed[key] ? ', passed' : ''}`;
    const kind = passed[key] ? 'passed' : key === current ? 'next' : '';
    return `<li><a href="/lessons/${key}/"${now} class="${kind}" data-key="${key}" title="${escapeHtml(words)}"><span aria-hidden="true">${number}</span><span class="unseen">${escapeHtml(words)}</span></a></li>`;
  });
  return `<nav class="pills" aria-label="Lessons"><ol>${items.join('')}</ol></nav>`;
}

function map({ lessons, passed, current }) {
  const rows = lessons.map(({ key, number, title, minutes }) => {
    const state = passed[key] ? 'passed' : key === current ? 'you are here' : '';
    return `<li><a href="/lessons/${key}/">${number} ${escapeHtml(title)}</a> <span class="minutes">${minutes} min</span> <span class="state" data-state="${key}">${state}</span></li>`;
  });
  return `<section class="map" aria-labelledby="map-title"><h2 id="map-title">All lessons</h2><ol>${rows.join('')}</ol></section>`;
}
