import { askAtOnce, groupBy } from '../../lib/checking.js';

const solution = 'solutions/02-cluster-fork/server.js';

export default [
  {
    name: 'who-answers',
    title: 'Who answers eight requests',
    question:
      'Four workers, eight requests at once, each on a connection of its own. How many does each worker get, and the primary?',
    async run({ launch }) {
      const program = await launch(solution, { env: { NODE_CLUSTER_WORKERS: '4' } });
      await program.ready(4);
      const { requests } = await askAtOnce(program, '/', 8);
      const shares = [...groupBy(requests, ({ pid }) => pid)].map(
        ([pid, some]) => `process ${pid}: ${some.length}`,
      );
      const ofPrimary = requests.filter(({ pid }) => pid === program.pid).length;
      return {
        observed: [...shares, `the primary, process ${program.pid}: ${ofPrimary}`],
        because:
          'The primary accepts every connection and hands it to a worker that is free. Each worker that answers is a process of its own.',
        asExpected: shares.length === 4 && requests.length === 8 && ofPrimary === 0,
      };
    },
  },
];
