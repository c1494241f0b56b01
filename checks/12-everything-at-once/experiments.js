import { exitsOf, kill, requestsOf, servingIn, startRequests } from '../../lib/check/checking.js';

const KEY = '12-everything-at-once';
const WORKERS = 2;
const IN_FLIGHT = 6;

export default [
  {
    name: 'in-dead-hands',
    title: 'What fails in a service that does everything right',
    question: `${IN_FLIGHT} invoices are in flight, and one of two workers is killed. How many fail?`,
    async run({ launch }) {
      const env = { NODE_CLUSTER_WORKERS: String(WORKERS) };
      const program = await launch(`solutions/${KEY}/server.js`, { env });
      await program.until((events) => servingIn(events).length >= WORKERS);
      const asked = await startRequests(program, '/invoice', IN_FLIGHT);
      const [victim] = servingIn(program.events);
      kill(program, [victim]);
      await program.until((events) => exitsOf(events).length > 0);
      const answers = await asked.answers;
      const failed = answers.filter(({ status }) => status !== 200);
      const requests = requestsOf(program.events, '/invoice');
      const held = requests.filter(({ pid, endMs }) => pid === victim && endMs === undefined);
      const isHeld = ({ client }) => held.some((one) => one.client === client);
      await program.until((events) => servingIn(events).length >= WORKERS);
      return {
        observed: [
          `${failed.length} of ${IN_FLIGHT} invoices failed.`,
          `The killed worker, process ${victim}, had begun ${held.length} and answered none of those.`,
        ],
        because:
          "A request is in one process, and nothing else knows of it. The other worker's invoices were answered. Only the client can send the lost ones again, and for an order that must be safe.",
        asExpected: held.length > 0 && failed.length === held.length && failed.every(isHeld),
      };
    },
  },
];
