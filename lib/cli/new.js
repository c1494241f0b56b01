import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { keyPattern, lessonKeys } from '../catalog.js';
import { quoted } from '../nearest.js';
import { UsageError } from '../usage-error.js';
import { parse } from './args.js';

const example = 'For example: npm run new 12-worker-threads "Threads beside processes"';

/**
 * `new NN-slug "Title"`: an author's command. Creates every part of a lesson, ready to be filled in.
 *
 * @param {string[]} argv
 * @param {import('./progress.js').Io} io
 * @returns {Promise<number>} exit code
 */
export async function run(argv, io) {
  const [key, title] = parse(argv, {}, io.env, 2).positionals;
  refuseWrongNames(key, title, io.root);
  const parts = Object.entries(partsOf(key, title.trim()));
  const taken = parts.map(([path]) => path).filter((path) => existsSync(join(io.root, path)));
  if (taken.length > 0) {
    throw new UsageError(
      `Nothing was created, because this is there already: ${taken.join(', ')}.`,
      'Choose another slug, or remove what is there.',
    );
  }
  for (const [path, text] of parts) {
    mkdirSync(dirname(join(io.root, path)), { recursive: true });
    writeFileSync(join(io.root, path), text, { flag: 'wx' });
    io.stdout.write(`${path}\n`);
  }
  io.stdout.write('Fill these in, then run: npm run sync && npm run doctor\n');
  return 0;
}

function refuseWrongNames(
  /** @type {string | undefined} */ key,
  /** @type {string | undefined} */ title,
  /** @type {string} */ root,
) {
  if (key === undefined || !title?.trim()) {
    throw new UsageError('A new lesson needs a key and a title.', example);
  }
  if (!keyPattern.test(key)) {
    throw new UsageError(
      `${quoted(key)} is no key of a lesson: two digits, then words of a to z and 0 to 9, with hyphens.`,
      example,
    );
  }
  if (/\p{Cc}/u.test(title)) {
    throw new UsageError('A title is one line, without control characters.', example);
  }
  const sameNumber = existsSync(join(root, 'lessons'))
    ? lessonKeys(root).find((other) => other !== key && other.slice(0, 2) === key.slice(0, 2))
    : undefined;
  if (sameNumber) throw new UsageError(`${sameNumber} has that number already.`, 'Take another.');
}

/** @returns {Record<string, string>} texts by their paths from the root */
function partsOf(/** @type {string} */ key, /** @type {string} */ title) {
  const starter = serverSource('// Task 1: say here what the learner writes.', 'todo');
  const solution = serverSource("// The task's answer.", 'done');
  return {
    [`lessons/${key}/README.md`]: readmeSource(key, title),
    [`lessons/${key}/server.js`]: starter,
    [`solutions/${key}/server.js`]: solution,
    [`checks/starters/${key}/server.js`]: starter,
    [`checks/${key}.check.js`]: checkSource(key),
    [`checks/experiments/${key}.js`]: experimentsSource(key),
    [`slides/${key}.md`]: slidesSource(title),
    [`checks/submissions/${key}/accept-solution.js`]: `// accepts: the solution as it is\n${solution}`,
    [`checks/submissions/${key}/reject-starter.js`]: `// breaks: answers\n${starter}`,
  };
}

const readmeSource = (/** @type {string} */ key, /** @type {string} */ title) => `---
title: ${JSON.stringify(title)}
minutes: 30
goal: Say in one sentence what the learner can do afterwards.
concepts: [first concept, second concept]
hints:
  - A nudge.
  - What to look up.
  - Nearly the answer.
starterFails: [answers]
---

# ${title}

Write the text of the lesson here.

\`\`\`js file=solutions/${key}/server.js#task
\`\`\`
`;

const serverSource = (
  /** @type {string} */ comment,
  /** @type {string} */ answer,
) => `import http from 'node:http';

const port = process.env.PORT ?? 8080;

const server = http.createServer((request, response) => {
  // #region task
  ${comment}
  response.end('${answer}');
  // #endregion task
});

server.listen(port, () => {
  console.log(\`process \${process.pid} listens on http://127.0.0.1:\${port}\`);
});
`;

const checkSource = (/** @type {string} */ key) => `import { check } from '../lib/checking.js';

const promises = {
  answers: 'the server answers',
};

check('${key}', promises, async ({ launch, ready, observe, hold }) => {
  const main = observe(async () => ready(await launch()));
  await hold('answers', async () => {
    await main;
    // Say here what must be true: demand(holds, { expected, got, why, try }).
  });
});
`;

const experimentsSource = (
  /** @type {string} */ key,
) => `import { get } from '../../lib/checking.js';

export default [
  {
    name: 'first-look',
    title: 'What the server answers',
    question: 'What does the server answer?',
    async run({ launch }) {
      const program = await launch('solutions/${key}/server.js');
      await program.ready(1);
      const { body } = await get(program.url);
      return { observed: body, because: 'Say here why.', asExpected: body === 'done' };
    },
  },
];
`;

const slidesSource = (/** @type {string} */ title) => `---
title: ${JSON.stringify(title)}
---

# The question {minutes=2}

Ask here what is to be predicted.

Note:

Say here what to say, what to ask, and which wrong answers come.
`;
