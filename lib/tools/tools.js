/** What some lessons need and `npm ci` does not bring. @typedef {import('../lessons/lesson-yml.js').Tool} Tool */
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Undecided } from '../verdict/outcome.js';

/** Where systems install servers; not every PATH contains them. */
const SERVER_FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin'];

const TOOLS = {
  nginx: {
    title: 'nginx',
    command: 'nginx',
    install: { linux: 'sudo apt-get install nginx-light', darwin: 'brew install nginx' },
  },
  redis: {
    title: 'A Redis server',
    command: 'redis-server',
    install: { linux: 'sudo apt-get install redis-server', darwin: 'brew install redis' },
  },
  nitropack: {
    title: 'Nitro',
    file: '../../lessons/11-nitro/node_modules/nitropack/package.json',
    install: { any: 'npm ci --prefix lessons/11-nitro' },
  },
  vegeta: {
    title: 'vegeta',
    command: 'vegeta',
    install: {
      any: 'go install github.com/tsenart/vegeta/v12@latest',
      darwin: 'brew install vegeta',
    },
  },
};

/** @param {Tool} name @returns {string | undefined}  the absolute path of the program; for nitropack, of its package.json */
export function findTool(name) {
  const { command, file } = TOOLS[name];
  if (file) {
    const path = fileURLToPath(new URL(file, import.meta.url));
    return existsSync(path) ? path : undefined;
  }
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...SERVER_FOLDERS];
  const suffix = process.platform === 'win32' ? '.exe' : '';
  return folders.map((folder) => join(folder, `${command}${suffix}`)).find(isExecutable);
}

/** @param {Tool} name @returns {{ title: string, install: string }}  install: the command for this system, or advice */
export function describeTool(name) {
  const { title } = TOOLS[name];
  return { title, install: commandFor(name) ?? adviceFor(name) };
}

const commandFor = (/** @type {Tool} */ name) =>
  TOOLS[name].install[process.platform] ?? TOOLS[name].install.any;
const adviceFor = (/** @type {Tool} */ name) => `install ${name} (on Windows: inside WSL)`;

/** The message that a tool is missing. @param {Tool} name @returns {{ got: string, why: string, try: string }} */
export function explainMissing(name) {
  return {
    got: `${TOOLS[name].title} is not installed here.`,
    why: 'This part of the lesson runs the real thing, and there is no substitute for it.',
    try: commandFor(name) ?? `${adviceFor(name)}, then check again`,
  };
}

/** @param {Tool} name @returns {string}  its path @throws {Undecided}  when it isn't installed, which isn't the learner's fault */
export function demandTool(name) {
  const found = findTool(name);
  if (found) return found;
  throw new Undecided(explainMissing(name));
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
