import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { keyPattern, lessonKeys } from '../../lessons/catalog.js';
import { lessonPaths } from '../../lessons/lesson-paths.js';
import { quoted } from '../../common/nearest.js';
import { UsageError } from '../../common/usage-error.js';
import { parse } from '../args.js';

const example = 'For example: npm run new 12-worker-threads "Threads beside processes"';

/** `new NN-slug "Title"`: for authors, creates every part of a lesson. @type {import('../dispatch.js').Command} */
export async function run(argv, io) {
  const [key, title] = parse(argv, {}, io.env, 2).positionals;
  refuseWrongNames(key, title, io.root);
  const parts = Object.entries(partsOf(key, title.trim()));
  const taken = parts.map(([path]) => path).filter((path) => existsSync(join(io.root, path)));
  if (taken.length > 0) {
    throw new UsageError(
      `Nothing was created, because this already exists: ${taken.join(', ')}.`,
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

/** @param {string | undefined} key @param {string | undefined} title @param {string} root */
function refuseWrongNames(key, title, root) {
  if (key === undefined || !title?.trim()) {
    throw new UsageError('A new lesson needs a key and a title.', example);
  }
  if (!keyPattern.test(key)) {
    throw new UsageError(
      `${quoted(key)} isn't a lesson's key: two digits, then words of a to z and 0 to 9, with hyphens.`,
      example,
    );
  }
  if (/\p{Cc}/u.test(title)) {
    throw new UsageError('A title is one line, without control characters.', example);
  }
  const sameNumber = existsSync(join(root, 'lessons'))
    ? lessonKeys(root).find((other) => other !== key && other.slice(0, 2) === key.slice(0, 2))
    : undefined;
  if (sameNumber) throw new UsageError(`${sameNumber} already has that number.`, 'Choose another.');
}

/** @returns {Record<string, string>} path from the root → text */
function partsOf(/** @type {string} */ key, /** @type {string} */ title) {
  const starter = serverSource('// Task 1: say here what the learner writes.', 'todo');
  const solution = serverSource("// The task's answer.", 'done');
  const places = lessonPaths(key);
  return {
    [places.text]: textSource(key, title),
    [places.about]: aboutSource(title),
    [`${places.mine}/server.js`]: starter,
    [`${places.solution}/server.js`]: solution,
    [places.check]: checkSource(key),
    [`${places.starter}/server.js`]: starter,
    [places.hints]: hintsSource,
    [`${places.checks}/wrong-answers.md`]: wrongAnswersSource,
    [`${places.checks}/right-answers.md`]: rightAnswersSource,
    [places.experiments]: experimentsSource(key),
    [places.slides]: slidesSource(title),
  };
}

const aboutSource = (/** @type {string} */ title) => {
  const goal = 'Say in one sentence what the learner can do afterwards.';
  const concepts = ['first concept', 'second concept'];
  const about = { title, minutes: 30, goal, concepts, starterFails: ['answers'] };
  return stringify(about, { singleQuote: true });
};

const hintsSource = `# Hints

## Task 1

### First

A nudge.

### Second

What to look up.

### Third

Nearly the answer.
`;

const wrongAnswersSource = `# Wrong answers

Each breaks the promises that it names, and only those.

## ignores-port

Breaks: \`listens\`

Say here why someone writes this, and what clients notice.

\`\`\`diff
-const port = process.env.PORT ?? 8080;
+const port = 8080;
\`\`\`

## todo

Breaks: \`answers\`

Say here why someone writes this, and what clients notice.

\`\`\`diff
-  response.end('done');
+  response.end('todo');
\`\`\`
`;

const rightAnswersSource = `# Right answers

Each is right, but written differently.

## end-later

It answers in two steps.

\`\`\`diff
-  response.end('done');
+  response.write('done');
+  response.end();
\`\`\`
`;

const textSource = (/** @type {string} */ key, /** @type {string} */ title) => `# ${title}

Write the text of the lesson here.

### Task 1: say here what to build

\`\`\`js file=solutions/${key}/server.js#task
\`\`\`
`;

/** @param {string} comment @param {string} answer */
const serverSource = (comment, answer) => `import http from 'node:http';

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

/** @param {string} key */
const checkSource = (key) => `import { check, demand, get } from '../../lib/check/checking.js';

const tasks = {
  1: {
    listens: 'the server listens on PORT',
    answers: 'it answers "done"',
  },
};

export default check('${key}', tasks, ({ launch, ready, observe, hold }) => {
  const main = observe([], async () => ready(await launch()));
  const answer = observe([main], ({ url }) => get(url));

  hold('listens', [main], () => {}, { isGate: true });

  hold('answers', [answer], ({ body }) =>
    demand(body === 'done', {
      expected: 'It answers "done".',
      got: \`It answers "\${body}".\`,
      try: "response.end('done');",
    }),
  );
});
`;

/** @param {string} key */
const experimentsSource = (key) => `import { get } from '../../lib/check/checking.js';

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
question: Which question does this lesson answer?
build: what the class builds
---

# The question {minutes=2}

Ask here what is to be predicted.

Note:

Say here what to say, what to ask, and which wrong answers to expect.
`;
