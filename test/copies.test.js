// Verifies that a copy of a program holds real files: a write to it reaches no file of the learner's, and an error names the
// learner's folder.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { linkSync, lstatSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { readdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { execFileSync } from '../lib/common/child.js';
import { rootFolder } from '../lib/lessons/catalog.js';
import { copyProgram } from '../lib/observe/program-copy.js';
import { Broken } from '../lib/verdict/outcome.js';
import { forkshop } from './fixture-root.js';

const folder = mkdtempSync(join(tmpdir(), 'copies ü '));
after(() => rmSync(folder, { recursive: true }));
const home = join(folder, 'home');
mkdirSync(home);
const onPosix = { skip: process.platform === 'win32' && 'links and pipes as POSIX has them' };

/** A folder with a server.js, and the files that `add` adds. */
function make(/** @type {string} */ name, /** @type {(place: string) => void} */ add = () => {}) {
  const place = join(folder, name);
  mkdirSync(place);
  writeFileSync(join(place, 'server.js'), '// a server');
  add(place);
  return { place, entry: join(place, 'server.js') };
}

const hashOf = (/** @type {string} */ file) =>
  createHash('sha256').update(readFileSync(file)).digest('hex');

/** @param {ReturnType<typeof make>} from @param {RegExp} says */
function assertBroken(from, says) {
  assert.throws(
    () => copyProgram(from, home),
    (error) => error instanceof Broken && says.test(String(error.story.got)),
  );
}

describe('a copy holds real files', onPosix, () => {
  test('a write to it reaches no file behind a link, not even a hard link', () => {
    const real = join(folder, 'real');
    mkdirSync(join(real, 'deep'), { recursive: true });
    const files = ['app.js', 'hard.js', 'deep/more.js'].map((name) => join(real, name));
    for (const file of files) writeFileSync(file, `// the only ${file}`);
    const from = make('linked', (place) => {
      symlinkSync('../real/app.js', join(place, 'app.js'));
      linkSync(join(real, 'hard.js'), join(place, 'hard.js'));
      symlinkSync(join(real, 'deep'), join(place, 'deep'));
    });
    const before = files.map(hashOf);
    const copy = copyProgram(from, home);
    assert.match(readFileSync(join(copy.folder, 'deep/more.js'), 'utf8'), /the only/);
    for (const name of ['app.js', 'hard.js', 'deep/more.js', 'new.js']) {
      copy.write(name, '// another version');
      assert.equal(lstatSync(join(copy.folder, name)).isFile(), true);
      assert.equal(readFileSync(join(copy.folder, name), 'utf8'), '// another version');
    }
    assert.deepEqual(files.map(hashOf), before);
    assert.equal(lstatSync(join(from.place, 'app.js')).isSymbolicLink(), true);
    assert.deepEqual(
      readdirSync(copy.folder).filter((name) => name.startsWith('.')),
      [],
    );
  });

  test('and a write to it does not follow a link that the program has put there', () => {
    const victim = join(folder, 'victim.js');
    writeFileSync(victim, '// precious');
    const before = hashOf(victim);
    const copy = copyProgram(make('trap'), home);
    symlinkSync(victim, join(copy.folder, 'app.js'));
    copy.write('app.js', '// another version');
    assert.equal(readFileSync(join(copy.folder, 'app.js'), 'utf8'), '// another version');
    symlinkSync(folder, join(copy.folder, 'out'));
    for (const name of ['out/victim.js', '../victim.js', '..', '.'])
      assert.throws(() => copy.write(name, ''), /not in the copy/);
    assert.equal(hashOf(victim), before);
  });

  test('a dangling link is left out rather than replaced from the starter', () => {
    const rest = make('starter', (place) => writeFileSync(join(place, 'worker.js'), '// starter'));
    const from = make('dangling', (place) => {
      symlinkSync('me@here.1234', join(place, '.#server.js')); // Emacs, during an edit
      symlinkSync('gone', join(place, 'worker.js'));
    });
    const copy = copyProgram({ ...from, rest: rest.place }, home);
    assert.deepEqual(readdirSync(copy.folder), ['server.js']);
  });

  test('a folder that contains the copies, packages and git history are left out', () => {
    const from = make('around', (place) => {
      for (const name of ['node_modules', '.git', 'inner']) mkdirSync(join(place, name));
      writeFileSync(join(place, '.git/config'), '');
    });
    const inner = join(from.place, 'inner');
    const copy = copyProgram(from, inner);
    assert.deepEqual(readdirSync(copy.folder), ['server.js']);
  });
});

describe('a folder that cannot be copied is named, with the reason', onPosix, () => {
  const pipe = (/** @type {string} */ place) => execFileSync('mkfifo', [join(place, 'pipe')]);

  test('links in a circle', () => {
    assertBroken(
      make('to itself', (place) => symlinkSync('loop', join(place, 'loop'))),
      /to itself\/loop is a link that leads to itself/,
    );
    assertBroken(
      make('to above', (place) => symlinkSync('..', join(place, 'up'))),
      /leads back to a folder that holds it/,
    );
  });

  test('a pipe', () => assertBroken(make('pipe', pipe), /pipe\/pipe is a pipe \(FIFO\), no file/));

  test('more than any solution needs', () => {
    const add = (/** @type {string} */ place) => {
      writeFileSync(join(place, 'big.bin'), '');
      truncateSync(join(place, 'big.bin'), 300 * 1024 ** 2); // a hole: it takes no room
    };
    assertBroken(make('much', add), /much holds more than 256 MB/);
  });

  test('and the check of lesson 8 reports it as a failed promise', async () => {
    const { place } = make('lesson 8', pipe);
    const argv = ['check', 'lesson-8', '--quick', '--json', '--in', place];
    const { code, stdout } = await forkshop(rootFolder, argv);
    const { verdict, fault, promises } = JSON.parse(stdout);
    assert.deepEqual({ code, verdict, fault }, { code: 1, verdict: 'failed', fault: null });
    assert.match(promises[0].got, /pipe is a pipe/);
  });
});
