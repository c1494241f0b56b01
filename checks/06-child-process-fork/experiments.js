import { setTimeout as sleep } from 'node:timers/promises';
import { reservePort, get, requestsOf } from '../../lib/check/checking.js';

const lesson = 'lessons/06-child-process-fork';
const solution = 'solutions/06-child-process-fork/server.js';
const starter = 'checks/06-child-process-fork/starter/server.js';
const LAST_MS = 8_000;

export default [
  {
    name: 'entry',
    title: 'Which file, which arguments',
    question:
      'A program is started with --verbose. It calls cluster.fork(), and fork() with the path of another file and one argument. What do the two run?',
    run: (lab) =>
      contrast(lab, 'entry', {
        args: ['--verbose'],
        expected: [
          'cluster worker: runs entry.js with [--verbose]',
          'forked child: runs hello.js with [--mine]',
        ],
        because:
          "A cluster worker runs the file of its primary again, with its primary's arguments. child_process.fork() runs what you name, with the arguments you give, and passes nothing on.",
      }),
  },
  {
    name: 'copy',
    title: 'Is anything copied?',
    question:
      'count is 0 at the top of a file. The parent sets it to 42 and forks in both ways. What is count at the end, in each?',
    run: (lab) =>
      contrast(lab, 'copy', {
        expected: [
          'parent: at the end, count is 42',
          'cluster worker: at the top, count is 0',
          'cluster worker: at the end, count is 0',
          'forked child: at the top, count is 0',
          'forked child: at the end, count is 0',
        ],
        because:
          "Neither is the fork() of Unix. Both start a new Node.js, which runs its file from the top and has never seen any of its parent's variables.",
      }),
  },
  {
    name: 'env',
    title: 'What becomes of the environment',
    question: 'Both ways to fork are given the variable GIVEN. Which child still knows PATH?',
    run: (lab) =>
      contrast(lab, 'env', {
        expected: [
          'cluster worker: GIVEN is yes, PATH is there',
          'forked child, env replaced: GIVEN is yes, PATH is missing',
          'forked child, env merged: GIVEN is yes, PATH is there',
        ],
        because:
          'cluster.fork(env) adds to the environment. The option env of child_process.fork() replaces it: what you do not name is gone. Write { ...process.env, GIVEN: "yes" }.',
      }),
  },
  {
    name: 'cwd',
    title: 'Where a path is looked up',
    question:
      "hello.js is beside the program, which has moved to another folder with process.chdir(). Which call finds it: fork('./hello.js'), or fork(new URL('hello.js', import.meta.url))?",
    run: (lab) =>
      contrast(lab, 'cwd', {
        expected: [
          'cluster worker: runs in ',
          'forked child: runs hello.js with [by URL] in ',
          'forked child: runs hello.js with [by URL, with cwd] in ',
          "forked child, by './hello.js': exit code 1",
        ],
        because:
          "A relative path counts from the current folder, not from the file that names it. A URL made from import.meta.url is absolute. The option cwd sets the child's folder; without it, the child gets its parent's.",
      }),
  },
  {
    name: 'idle',
    title: 'Nothing to do',
    question:
      'A cluster worker and a forked child have nothing to do: no server, no timer, no listener. Which is there after a second?',
    run: (lab) =>
      contrast(lab, 'idle', {
        expected: ['cluster worker: is there', 'forked child: ended, exit code 0'],
        because:
          'The channel to the primary keeps a cluster worker alive. A forked child is kept by its channel only while it listens for "message" or "disconnect".',
      }),
  },
  {
    name: 'orphan',
    title: 'The parent is killed',
    question:
      'Both have a timer that would end them after a second. Their parent is killed before that. Which of them notices?',
    run: (lab) =>
      contrast(lab, 'orphan', {
        expected: [
          'cluster worker: ends because its parent is gone',
          'forked child: ends because its time is up',
        ],
        because:
          'A cluster worker ends itself when the channel to its primary closes. A forked child hears "disconnect", if it listens, and does what you wrote, or nothing.',
      }),
  },
  {
    name: 'inspect',
    title: 'Which child gets a debugger',
    question:
      'A program runs with --inspect and forks in both ways. Which of its children can be debugged?',
    async run(lab) {
      const port = await reservePort(2);
      return contrast(lab, 'inspect', {
        env: { NODE_OPTIONS: `--inspect=127.0.0.1:${port}` },
        expected: [
          `parent: port ${port}`,
          `cluster worker: port ${port + 1}`,
          'forked child: no debugger',
          'forked child, told: port ',
        ],
        because:
          'cluster.fork() gives each worker the next port. child_process.fork() passes --inspect on as it is, and that port is taken: "address already in use". Port 0 in execArgv means any free port.',
      });
    },
  },
  {
    name: 'held-up',
    title: 'Pages served while two reports are built',
    question:
      'Two reports at once, and one / after the other until they are finished. How many / does the starter answer meanwhile, and how many the solution?',
    async run({ launch }) {
      const [before, after] = [
        await countHomes(launch, starter),
        await countHomes(launch, solution),
      ];
      return {
        observed: [`job in the server: ${before} times /`, `job in children: ${after} times /`],
        because:
          'A job in the server holds the only thread, even inside an async function. A job in a child has its own thread, and the server is free.',
        asExpected: before <= 2 && after >= 5,
      };
    },
  },
  {
    name: 'poison',
    title: 'A request that kills',
    question:
      '?name=a&name=b turns the name into an array, which SHA-256 does not take: the job throws. Three such requests come to the solution, with two children. What do they get, and what does the next one get?',
    async run({ launch }) {
      const { url } = await readyProgram(launch, solution);
      const answers = [];
      for (const query of ['name=a&name=b', 'name=c&name=d', 'name=e&name=f', 'name=g'])
        answers.push(await get(`${url}/report?rows=10&${query}`));
      return {
        observed: answers.map(({ status, body }) => `${status} ${body}`),
        because:
          'An uncaught error ends the child, and only the child. Its one request fails, and the next job gets a new child. A pool that tries a failed job again elsewhere lets one request kill them all.',
        asExpected: answers.map(({ status }) => status).join() === '503,503,503,200',
      };
    },
  },
  {
    name: 'cost',
    title: 'What one more worker costs',
    question:
      'Old documentation said 30 ms and 10 MB for one more process. What is it today, for a cluster worker, a forked child and a thread?',
    async run({ launch }) {
      const costs = {};
      for (const kind of ['cluster', 'fork', 'thread']) {
        const env = { NODE_OPTIONS: '' }; // without the probe, which costs too
        const program = await launch(`${lesson}/cost/start.js`, { args: [kind], env });
        await program.ended();
        costs[kind] = program.output().trim();
      }
      const [ofCluster, ofFork, ofThread] = Object.values(costs).map(megabytesOf);
      const isShared = ({ uss, rss }) => uss < rss / 2;
      const isKnown = Number.isFinite(ofFork.uss);
      return {
        observed: Object.entries(costs).map(([kind, text]) => `${kind}: ${text}`),
        because:
          'RSS counts what a process shares with others, above all the code of Node.js itself, in each of them. USS counts only what is its own: that is what one more of them takes.' +
          (isKnown ? '' : ' This system does not report USS: RSS is far too high.'),
        asExpected: isKnown ? isShared(ofCluster) && isShared(ofFork) : ofThread.rss < ofFork.rss,
      };
    },
  },
];

/** Runs one of the contrast programs, and compares what it prints, line by line in any order, with what we say. */
async function contrast({ launch }, name, { args, env, expected, because }) {
  const program = await launch(`${lesson}/contrast/${name}.js`, { args, env });
  const lines = () => program.output().split('\n');
  const isThere = (start) => lines().some((line) => line.startsWith(start));
  const deadline = performance.now() + LAST_MS;
  while (!expected.every(isThere) && performance.now() < deadline) await sleep(20);
  const observed = lines().filter((line) => /^(cluster worker|forked child|parent)\b/.test(line));
  return { observed, because, asExpected: expected.every(isThere) };
}

async function readyProgram(launch, file) {
  const program = await launch(file, { env: { JOB_CHILDREN: '2' } });
  await program.ready(1);
  return program;
}

/** How many requests for / the server executes from the beginning of the first of two reports to the end of the last. */
async function countHomes(launch, file) {
  const program = await readyProgram(launch, file);
  let isDone = false;
  const report = (name) => get(`${program.url}/report?rows=200000&name=${name}`);
  const reports = Promise.all(['a', 'b'].map(report)).then(() => (isDone = true));
  await program.until((events) => requestsOf(events, '/report').length > 0);
  while (!isDone) await get(`${program.url}/`);
  await reports;
  const [first, second] = requestsOf(program.events, '/report');
  const endMs = Math.max(first.endMs, second.endMs);
  return requestsOf(program.events, '/').filter((home) => home.endMs < endMs).length;
}

function megabytesOf(text) {
  const [, uss, rss] = (text.match(/[\d.]+|NaN/g) ?? []).map(Number);
  return { uss, rss };
}
