/**
 * The peers: the same application, brought to several processes in different ways.
 *
 * @typedef {object} Peer
 * @property {string} name
 * @property {string} about  how it is started, and what it is
 * @property {(place: { port: number, workers: number, folder: string }) => Promise<import('../../lib/xray/launch.js').Order>} order
 *   folder: an empty one, for its files
 * @property {(order: import('../../lib/xray/launch.js').Order) => Parameters<typeof import('../../lib/xray/reload.js').tryReload>[2]} [reload]  missing if it has no reload
 * @property {() => string | undefined} [obstacle]  why it cannot be measured here
 * @property {() => string} [version]
 */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execFileSync, spawnSync } from '../../lib/common/child.js';
import { rootFolder } from '../../lib/lessons/catalog.js';
import { environmentOfUser } from '../../lib/observe/environment.js';
import { findTool } from '../../lib/tools/tools.js';

export const here = fileURLToPath(new URL('.', import.meta.url));
const copies = join(rootFolder, '.forkshop/peers');
const [major, minor] = process.versions.node.split('.').map(Number);

/** An order for a script of ours, or for one of a package. */
const orderOf = (
  /** @type {string} */ entry,
  /** @type {any} */ { port, workers, args = [], env },
) => ({
  ...{ entry, args, isCommand: false, cwd: here, port },
  env: { PORT: String(port), NODE_CLUSTER_WORKERS: String(workers), ...env },
});

const script = (/** @type {string} */ name) => join(here, 'servers', name);
const byHangup = () => ({ signal: /** @type {const} */ ('SIGHUP') });

const versionOf = (/** @type {string} */ name) => () => {
  const file = join(here, 'node_modules', name, 'package.json');
  return `${name} ${JSON.parse(readFileSync(file, 'utf8')).version}`;
};

const PM2 = join(here, 'node_modules/pm2/bin/pm2');
const NITRO = join(here, 'node_modules/nitropack/dist/cli/index.mjs');

/** The control: one process. @type {Peer} */
export const control = {
  name: 'one process',
  about: 'node:http, no cluster',
  order: async (place) => orderOf(script('one.js'), place),
};

/** The slowest first, so that little is left out when the time is up. @type {Peer[]} */
export const field = [
  {
    name: 'lesson 8',
    about:
      'our solution of lesson 8, with this application; reload by SIGHUP; a crashed worker is replaced only then',
    order: async (place) => orderOf(lesson8(), place),
    reload: byHangup,
  },
  {
    name: 'pm2',
    about: 'pm2 start -i N --no-daemon; reload by pm2 reload',
    async order({ folder, ...place }) {
      const args = ['start', script('pm2.js'), '-i', String(place.workers), '--no-daemon'];
      const env = { PM2_HOME: folder, PM2_DISCRETE_MODE: 'true' };
      return orderOf(PM2, { ...place, args: [...args, '--name', 'peer'], env });
    },
    reload: ({ cwd, env }) => ({
      command: `"${process.execPath}" "${PM2}" reload peer`,
      ...{ cwd, env: { ...environmentOfUser(process.env), ...env } },
    }),
    version: versionOf('pm2'),
  },
  {
    name: 'cluster',
    about: "Node.js's own module, with a new worker for each that exits",
    order: async (place) => orderOf(script('cluster.js'), place),
  },
  {
    name: 'lesson 5',
    about: 'our solution of lesson 5 (Express), with this application',
    order: async (place) => orderOf(lesson5(), place),
  },
  {
    name: 'nitro',
    about: "Nitro's preset node-cluster",
    async order(place) {
      buildNitro();
      const env = { NITRO_CLUSTER_WORKERS: String(place.workers) };
      return orderOf(join(copies, 'nitro/output/server/index.mjs'), { ...place, env });
    },
    version: versionOf('nitropack'),
  },
  {
    name: 'throng',
    about:
      "as its README shows it; it forks on 'disconnect', which may never be emitted (lesson 5, Questions)",
    order: async (place) => orderOf(script('throng.js'), place),
    version: versionOf('throng'),
  },
  {
    name: 'nginx',
    about: 'nginx (max_fails=0) before N processes, each on its own port; reload one by one',
    async order({ folder, ...place }) {
      const env = { NGINX_FILE: findTool('nginx') ?? '', NGINX_FOLDER: folder };
      return orderOf(script('nginx.js'), { ...place, env });
    },
    reload: byHangup,
    obstacle: () => (findTool('nginx') ? undefined : 'nginx is not installed here'),
    version: () =>
      spawnSync(findTool('nginx') ?? 'nginx', ['-v'], { encoding: 'utf8' })
        .stderr.trim()
        .replace(/^.*: /, ''),
  },
  {
    name: 'threads',
    about: 'one process that listens, and N worker threads for the work',
    order: async (place) => orderOf(script('threads.js'), place),
  },
  {
    name: 'reusePort',
    about: 'N processes, each with its own socket on one port',
    order: async (place) => orderOf(script('reuse-port.js'), place),
    obstacle: () =>
      major > 23 || (major === 23 && minor >= 1)
        ? undefined
        : `reusePort needs Node.js 23.1 or newer; this is ${process.versions.node}`,
  },
];

/** The solution of lesson 5, its routes replaced by the application. */
function lesson5() {
  const folder = join(copies, 'lesson-5');
  const text = readFileSync(join(rootFolder, 'solutions/05-crash-restart/server.js'), 'utf8');
  const routes = / {2}app\.get\([\s\S]*(?= {2}app\.listen)/;
  if (!routes.test(text)) throw new Error('The routes of lesson 5 are not where they were.');
  mkdirSync(folder, { recursive: true });
  const app = "import { handle } from '../../../bench/peers/app.js';\n";
  writeFileSync(join(folder, 'server.js'), app + text.replace(routes, '  app.use(handle);\n'));
  return join(folder, 'server.js');
}

/** The solution of lesson 8, whose application is in a separate file. */
function lesson8() {
  const folder = join(copies, 'lesson-8');
  mkdirSync(folder, { recursive: true });
  cpSync(join(rootFolder, 'solutions/08-graceful-reload'), folder, { recursive: true });
  const app =
    "export { handle } from '../../../bench/peers/app.js';\nexport const version = '1';\n";
  writeFileSync(join(folder, 'app.js'), app);
  return join(folder, 'server.js');
}

let isBuilt = false;

function buildNitro() {
  if (isBuilt) return;
  const env = { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1', JITI_FS_CACHE: 'false' };
  const args = [NITRO, 'build', '--dir', join(here, 'nitro')];
  execFileSync(process.execPath, args, { env, timeout: 120_000, stdio: 'pipe' });
  isBuilt = true;
}
