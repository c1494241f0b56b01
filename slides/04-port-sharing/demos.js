import { eventsOf, wrongAnswer } from '../../lib/check/checking.js';

const CHILDREN = 2; // two programs with their children are six lanes
const AT_ONCE = 20;
const PATIENCE_MS = 1_500;
const env = { NODE_CLUSTER_WORKERS: String(CHILDREN) };
const args = ['--give', 'connections'];

/** The same crowd connects to a parent that does not read before it gives a connection away, and to a parent that does. */
export default [
  {
    name: 'pause-or-read',
    title: 'A connection given away, with and without pauseOnConnect',
    mayFail: true,
    async perform({ launch, ask, say, begin, drawn }) {
      const start = async (file, as) => {
        const program = await launch(file, { as, env, args });
        await program.ready(1);
        await program.settled(() => false); // it has started all that it starts
        return program;
      };
      say(`Two servers start, each a parent with ${CHILDREN} children.`);
      const pausing = await start('solutions/04-port-sharing/server.js', 'it pauses');
      const reading = await start(wrongAnswer('04-port-sharing', 'no-pause'), 'it reads');
      const crowds = [];
      const draw = () => {
        const rows = (count, isLoss) =>
          crowds.map((crowd) => ({ name: crowd.name, value: count(crowd), isLoss }));
        const whole = { unit: `of ${AT_ONCE}`, most: AT_ONCE };
        drawn({ name: 'answered', label: 'answered', ...whole, rows: rows(answered, false) });
        drawn({ name: 'lost', label: 'lost', ...whole, rows: rows(lost, true) });
      };
      begin();
      say(`With pauseOnConnect: ${AT_ONCE} clients ask for / at once.`);
      crowds.push({ name: 'it pauses', answers: await askTogether(pausing, ask) });
      draw();
      say(
        `Without: ${AT_ONCE} clients at once. Each of them waits up to ${PATIENCE_MS / 1_000} seconds.`,
      );
      crowds.push({ name: 'it reads', answers: await askTogether(reading, ask) });
      draw();
      const [kept, left] = crowds.map(answered);
      say(
        `Answered: ${kept} with pauseOnConnect, ${left} without. ` +
          `The children got ${countDealt(pausing)} and ${countDealt(reading)} connections.`,
      );
    },
  },
];

const askTogether = ({ url }, ask) =>
  Promise.all(Array.from({ length: AT_ONCE }, () => ask(`${url}/`, { timeoutMs: PATIENCE_MS })));

const answered = ({ answers }) => answers.filter(({ error }) => !error).length;
const lost = ({ answers }) => answers.filter(({ error }) => error).length;

/** The connections that arrived in the children, healthy or robbed. */
const countDealt = ({ events }) =>
  eventsOf(events, 'connection').filter(({ how }) => how === 'dealt').length;
