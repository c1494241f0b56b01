/** The board of a class: each message from the server redraws all of it. */
import { all, make } from '../../web/client/elements.js';
import { showSeats } from './free-seats.js';

const SIGNS = {
  reading: ['·', 'reading'],
  checking: ['…', 'checking'],
  passed: ['✔', 'passed'],
  failed: ['✖', 'failing'],
  inconclusive: ['?', 'undecided'],
};
const MOST_FAILS = 4;

const counts = document.getElementById('counts');
const [table] = all('.table');
const hands = document.getElementById('hands');

const events = new EventSource('/events');
events.addEventListener('message', ({ data }) => show(JSON.parse(data)));
events.addEventListener('error', () =>
  put(counts, 'The board cannot be reached. This page waits for it.'),
);
addEventListener('pagehide', () => events.close());

function show({ here, away, hands: raised, lessons, seats, most }) {
  showSeats(seats, most);
  put(counts, `${here} here${away > 0 ? `, ${away} away` : ''}`);
  document.getElementById('nobody').hidden = here + away > 0;
  table.hidden = here + away === 0;
  table.querySelector('tbody').replaceChildren(...lessons.map(rowOf));
  hands.hidden = raised.length === 0;
  const items = raised.map(({ name, number }) =>
    make('li', { textContent: `${name}, lesson ${number}` }),
  );
  hands.querySelector('ol').replaceChildren(...items);
}

/** An unchanged text isn't set again, because a screen reader would repeat it. */
function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function rowOf({ number, title, learners, fails }) {
  const row = make('tr');
  const head = make('th', { scope: 'row' });
  head.append(make('span', { className: 'number', textContent: number }), ` ${title}`);
  const who = make('ul', { className: 'who' });
  who.append(...learners.map(learnerOf));
  const cells = [make('td'), make('td')];
  cells[0].append(who);
  if (fails.length > 0) cells[1].append(failsOf(fails));
  row.append(head, ...cells);
  return row;
}

function learnerOf({ name, away, state, failed, hand, stood }) {
  const [sign, word] = SIGNS[state];
  const item = make('li', { className: away ? 'away' : state });
  const words = [away ? 'away' : word, ...(failed > 1 && !away ? [`${failed} promises`] : [])];
  if (!away)
    item.append(make('span', { className: 'sign', ariaHidden: 'true', textContent: sign }));
  item.append(
    make('bdi', { className: 'name', textContent: name }),
    make('span', { className: away ? 'word' : 'unseen', textContent: words.join(', ') }),
  );
  const blows = away ? '' : standing(state, stood);
  if (blows) item.append(make('span', { className: 'word', textContent: blows }));
  if (hand && !away) item.append(make('span', { className: 'hand', textContent: 'hand' }));
  return item;
}

/** Where a check strikes its program with blows: does it still stand? */
function standing(state, stood) {
  if (typeof stood !== 'number') return '';
  if (state === 'passed') return 'stands';
  if (state !== 'failed') return '';
  return stood === 0 ? 'fell at once' : `stood ${stood} ${stood === 1 ? 'blow' : 'blows'}`;
}

function failsOf(fails) {
  const list = make('ul', { className: 'fails' });
  for (const { sentence, count } of fails.slice(0, MOST_FAILS)) {
    const item = make('li');
    item.append(make('b', { textContent: String(count) }), make('span', { textContent: sentence }));
    list.append(item);
  }
  const left = fails.length - MOST_FAILS;
  if (left > 0) {
    const item = make('li');
    item.append(make('span', { className: 'more', textContent: `and ${left} more` }));
    list.append(item);
  }
  return list;
}
