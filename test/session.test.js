// Verifies how a check is judged: which looks are made, for which promises, when; with a runner that starts nothing.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { listLessons, rootFolder } from '../lib/lessons/catalog.js';
import { Undecided, demand, demandInTime, describeCrash } from '../lib/check/checking.js';
import { checkFile, loadCheck } from '../lib/check/definitions.js';
import { runSession } from '../lib/check/session.js';

const runner = /** @type {any} */ ({
  home: '/nowhere',
  pids: () => [],
  start: () => assert.fail('nothing is started'),
});
const promises = { one: 'the first', two: 'the second', three: 'the third' };
const inOneTask = { one: 1, two: 1, three: 1 };

/**
 * @param {(lesson: import('../lib/check/session.js').Lesson, made: string[]) => void} declare
 * @param {Partial<import('../lib/check/session.js').SessionOptions> & { taskOf?: Record<string, number> }} [options]
 */
async function judge(declare, { taskOf = inOneTask, ...options } = {}) {
  /** @type {any[]} */
  const records = [];
  /** @type {string[]} */
  const made = [];
  const definition = {
    ...{ key: '00-none', promises, taskOf },
    declare: (lesson) => declare(lesson, made),
  };
  const idle = { overrunBy: () => undefined }; // however busy this machine is
  const session = { root: rootFolder, place: '/nowhere', runner, ...idle, ...options };
  const error = await runSession(definition, session, (record) => void records.push(record)).then(
    () => undefined,
    (reason) => reason,
  );
  const judged = records.flatMap(({ promise }) =>
    promise ? [`${promise.id} ${promise.verdict}`] : [],
  );
  return { judged, made, records, error, end: records.at(-1) };
}

const threeLooks =
  (fails = '') =>
  (/** @type {import('../lib/check/session.js').Lesson} */ lesson, made) => {
    for (const id of Object.keys(promises)) {
      const look = lesson.observeInParallel([], () => made.push(id));
      lesson.hold(id, [look], () => demand(id !== fails, { got: 'nothing' }), {
        needs: id === 'three' ? ['one'] : [],
      });
    }
    const measuring = lesson.observeInParallel([], () => made.push('measured'));
    lesson.measure([measuring], () => lesson.measured('m', { label: 'm', value: 1, unit: 's' }));
  };

test('checks are loaded at the same time, each file its own; a file that exports no check is refused', async () => {
  const keys = listLessons(rootFolder).map(({ key }) => key);
  const loaded = await Promise.all(keys.map((key) => loadCheck(checkFile(rootFolder, key))));
  assert.deepEqual(
    loaded.map(({ key }) => key),
    keys,
  );
  await assert.rejects(loadCheck(join(rootFolder, 'lessons/work.js')), /exports no check/);
});

test('checks are judged side by side in one process', async () => {
  let open = () => {};
  const gate = new Promise((resolve) => (open = () => resolve(undefined)));
  const waiting = judge((lesson) => {
    const look = lesson.observeInParallel([], () => gate);
    for (const id of Object.keys(promises)) lesson.hold(id, [look], () => {});
  });
  const other = await judge(threeLooks('one'));
  assert.deepEqual(other.judged, ['one failed', 'two passed', 'three skipped']);
  open();
  assert.deepEqual((await waiting).judged, ['one passed', 'two passed', 'three passed']);
});

test('judges all promises in their order, then those that decide nothing', async () => {
  const { judged, end, records } = await judge(threeLooks());
  assert.deepEqual(judged, ['one passed', 'two passed', 'three passed']);
  assert.deepEqual([end.verdict, end.isWhole], ['passed', true]);
  assert.deepEqual(records.filter(({ measurement }) => measurement).length, 1);
});

test('a promise is skipped if a promise that it stands on fails, and nothing is measured', async () => {
  const { judged, end, made } = await judge(threeLooks('one'));
  assert.deepEqual(judged, ['one failed', 'two passed', 'three skipped']);
  assert.deepEqual([end.verdict, end.isWhole], ['failed', true]);
  assert.ok(!made.includes('measured'));
});

test('--only makes only the looks that the named promises stand on', async () => {
  const { judged, made, end } = await judge(threeLooks(), { only: ['three'] });
  assert.deepEqual(judged, ['one passed', 'three passed']);
  assert.deepEqual(made, ['one', 'three']);
  assert.deepEqual([end.verdict, end.isWhole], ['passed', false]);
});

const oneTaskEach = { one: 1, two: 2, three: 3 };

test('ends with the first task that is not done, judging all of it', async () => {
  const taskOf = { one: 1, two: 1, three: 2 };
  const first = await judge(threeLooks('one'), { taskOf });
  assert.deepEqual(first.judged, ['one failed', 'two passed']);
  assert.deepEqual([first.end.verdict, first.end.isWhole], ['failed', false]);
  const last = await judge(threeLooks('three'), { taskOf });
  assert.deepEqual(last.judged, ['one passed', 'two passed', 'three failed']);
  assert.deepEqual(
    last.records.flatMap(({ promise }) => promise?.task ?? []),
    [1, 1, 2],
  );
  const through = await judge(threeLooks('one'), { taskOf, isThrough: true });
  assert.deepEqual(through.judged, ['one failed', 'two passed', 'three skipped']);
  const undecided = await judge(oneUndecided, { taskOf });
  assert.deepEqual(undecided.judged, ['one inconclusive', 'two passed']);
});

test('judges last time’s failures first, then their task, and the others if that is done', async () => {
  const again = await judge(threeLooks('two'), { first: ['two'] });
  assert.deepEqual(again.judged, ['two failed', 'one passed', 'three passed']);
  const apart = await judge(threeLooks('two'), { first: ['two'], taskOf: oneTaskEach });
  assert.deepEqual(apart.judged, ['two failed']);
  const both = await judge(threeLooks('one'), { first: ['two', 'one'], taskOf: oneTaskEach });
  assert.deepEqual(both.judged, ['one failed'], 'the other is for when this one is mended');
  const mended = await judge(threeLooks(), { first: ['two'], taskOf: oneTaskEach });
  assert.deepEqual(mended.judged, ['two passed', 'one passed', 'three passed']);
  assert.equal(mended.end.isWhole, true);
  const ground = await judge(threeLooks('one'), { first: ['three'], taskOf: oneTaskEach });
  assert.deepEqual(ground.judged, ['one failed', 'three skipped'], 'it needs the first');
});

const oneUndecided = (/** @type {import('../lib/check/session.js').Lesson} */ { hold }) => {
  hold('one', [], () => {
    throw new Undecided({ got: 'noise', why: 'the machine', try: 'again' });
  });
  hold('two', [], () => {});
  hold('three', [], () => {});
};

test('continues after an undecided promise', async () => {
  const { judged, end } = await judge(oneUndecided, { first: ['one'] });
  assert.deepEqual(judged, ['one inconclusive', 'two passed', 'three passed']);
  assert.equal(end.verdict, 'inconclusive');
});

test('ends after an undecided promise only if very many processes want each core', async () => {
  const overrunBy = () => 20;
  for (const first of [[], ['one']]) {
    const { judged, end } = await judge(oneUndecided, { first, overrunBy });
    assert.deepEqual(judged, ['one inconclusive']);
    assert.deepEqual([end.verdict, end.isWhole], ['inconclusive', false]);
    assert.equal(end.conditions.overrunBy, 20);
  }
  const { judged, end } = await judge(threeLooks('one'), { overrunBy });
  assert.deepEqual(judged, ['one failed', 'two passed', 'three skipped']);
  assert.equal(end.conditions.overrunBy, undefined);
});

test('an unmet need of two promises is reported once', async () => {
  const { judged } = await judge(({ observeInParallel, hold }) => {
    const broken = observeInParallel([], () => demand(false, { got: 'no program' }));
    hold('one', [broken], () => {});
    hold('two', [broken], () => {});
    hold('three', [], () => {});
  });
  assert.deepEqual(judged, ['one failed', 'two skipped', 'three passed']);
});

test('the first failing step is reported, and no later look is waited for', async () => {
  const never = () => new Promise(() => {});
  const judged = [];
  const told = await judge(({ observeInParallel, hold, holdInSteps }) => {
    const [quick, endless] = [observeInParallel([], () => 'seen'), observeInParallel([], never)];
    const broken = observeInParallel([], () => demand(false, { got: 'a later fault' }));
    holdInSteps('one', [
      [[quick], (seen) => void judged.push(seen)],
      [[quick], () => demand(false, { got: 'the first fault' })],
      [[broken], () => {}],
      [[endless], () => void judged.push('endless')],
    ]);
    holdInSteps('two', [
      [[quick], () => {}],
      [[broken], () => {}],
    ]);
    hold('three', [quick], () => {});
  });
  assert.deepEqual(told.judged, ['one failed', 'two failed', 'three passed']);
  assert.deepEqual(
    told.records.flatMap(({ promise }) => promise?.got ?? []),
    ['the first fault', 'a later fault'],
  );
  assert.deepEqual(judged, ['seen']);
});

test('an undecided independent step hides no later failure, and is reported if there is none', async () => {
  const doubtful = () => {
    throw new Undecided({ got: 'a doubt', why: 'It is busy.', try: 'again' });
  };
  const told = await judge(({ observeInParallel, holdInSteps }) => {
    const seen = observeInParallel([], () => 'seen');
    const broken = () => demand(false, { got: 'a fault' });
    /** @returns {import('../lib/check/session.js').Step[]} */
    const steps = (...judges) => judges.map((one) => [[seen], one]);
    holdInSteps('one', steps(doubtful, broken), { areIndependent: true });
    holdInSteps('two', steps(doubtful, broken));
    holdInSteps(
      'three',
      steps(doubtful, () => {}),
      { areIndependent: true },
    );
  });
  assert.deepEqual(told.judged, ['one failed', 'two inconclusive', 'three inconclusive']);
  assert.deepEqual(
    told.records.flatMap(({ promise }) => promise?.got ?? []),
    ['a fault', 'a doubt', 'a doubt'],
  );
});

test('a promise that measures waits until no other look runs', async () => {
  let isLooking = false;
  const { judged } = await judge(({ observeInParallel, hold }) => {
    const slow = observeInParallel([], async () => {
      isLooking = true;
      await new Promise((resolve) => setTimeout(resolve, 60));
      isLooking = false;
    });
    hold('one', [], () => void slow.see());
    hold('two', [], () => assert.equal(isLooking, false), { isMeasurement: true });
    hold('three', [slow], () => {});
  });
  assert.deepEqual(judged, ['one passed', 'two passed', 'three passed']);
});

test('an internal fault is reported as one, and so is a check that declares its promises wrongly', async () => {
  const fault = await judge(({ hold }) => hold('one', [], () => assert.fail('ours')));
  assert.match(fault.records[0].fault, /ours/);
  assert.ok(fault.error);
  const disorder = await judge(({ hold }) => hold('two', [], () => {}));
  assert.match(disorder.records[0].fault, /'two' is not the next promise/);
  const nothing = await judge(() => {});
  assert.match(nothing.records[0].fault, /declares no promise/);
});

test('an ended session reports nothing more', async () => {
  const end = new AbortController();
  /** @type {(nothing?: any) => void} */
  let goOn = () => {};
  const { error, records } = await judge(
    ({ hold }) => {
      hold('one', [], () => {
        end.abort(new Error('enough'));
        return new Promise((resolve) => (goOn = resolve));
      });
      hold('two', [], () => assert.fail('it is not reached'));
    },
    { signal: end.signal },
  );
  goOn();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(error.message, 'enough');
  assert.deepEqual(records, []);
});

const crowds = {
  idle: { isIdle: true, isCrowded: false },
  busy: { isIdle: false, isCrowded: false },
  crowded: { isIdle: false, isCrowded: true },
};

/** Judges a promise in which an event is missing in the first scenes, up to a number; each look records that it was made. */
const judgeMissing = (/** @type {keyof typeof crowds} */ crowd, times, more = {}) => {
  let scenes = 0;
  return judge(
    ({ observe, hold }, made) => {
      const start = observe([], () => (made.push('start'), (scenes += 1)));
      const look = observe([start], (scene) => (made.push('look'), scene));
      const later = observe([start, look], (scene, seen) => (made.push('later'), [scene, seen]));
      hold('one', [look], (scene) =>
        demandInTime(scene > times, { got: 'nothing arrived', ...more }),
      );
      hold('two', [later], ([scene, seen]) => demand(scene === seen, { got: 'two scenes' }));
      hold('three', [], () => {});
    },
    { crowdOf: () => () => crowds[crowd] },
  );
};

test('an event that is missing on an idle machine fails at once', async () => {
  const { judged, made } = await judgeMissing('idle', 1);
  assert.deepEqual(judged, ['one failed', 'two passed', 'three passed']);
  assert.deepEqual(made, ['start', 'look', 'later']);
});

test('a crash that explains what is missing is no delay: it decides at once on any machine', async () => {
  const why = describeCrash([{ t: 0, pid: 1, what: 'crash', error: 'Error: a mistake' }]);
  const { judged, made } = await judgeMissing('crowded', 1, { why });
  assert.deepEqual(judged, ['one failed', 'two passed', 'three passed']);
  assert.deepEqual(made, ['start', 'look', 'later']);
});

test('what no wait would have brought decides at once on any machine', async () => {
  const { judged, made, records } = await judgeMissing('crowded', 1, { isFinal: true });
  assert.deepEqual(judged, ['one failed', 'two passed', 'three passed']);
  assert.deepEqual(made, ['start', 'look', 'later']);
  const { promise } = records.find((one) => one.promise?.id === 'one');
  assert.deepEqual([promise.got, promise.isFinal], ['nothing arrived', undefined]);
});

test('otherwise the scene is repeated from its start, with everything that stands on it', async () => {
  const { judged, made } = await judgeMissing('busy', 1);
  assert.deepEqual(judged, ['one passed', 'two passed', 'three passed']);
  const again = made.lastIndexOf('start');
  assert.ok(again > 0);
  assert.deepEqual(made.slice(again), ['start', 'look', 'later']);
});

test('an event that is missing twice fails, unless enough processes want each core that it may only be late', async () => {
  const { judged } = await judgeMissing('busy', 2);
  assert.deepEqual(judged, ['one failed', 'two passed', 'three passed']);
  const { judged: crowded, records } = await judgeMissing('crowded', 2);
  assert.deepEqual(crowded, ['one inconclusive', 'two passed', 'three passed']);
  assert.equal(records.find(({ promise }) => promise?.id === 'one').promise.got, 'nothing arrived');
});
