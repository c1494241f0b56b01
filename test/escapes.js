// Ways in which a program's processes escape it: each is the text of a program that leaves one process for a minute. Only the
// process that stays has `stays` and the mark among its arguments.
import { readFileSync, readdirSync } from 'node:fs';
import { spawnSync } from '../lib/common/child.js';

const python = `import os, sys
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
os.chdir('/')
for fd in range(3): os.dup2(os.open('/dev/null', os.O_RDWR), fd)
os.execve(sys.argv[1], sys.argv[1:], {})`;

const pythonHydra = `import os, sys, time
end = time.time() + 20
while time.time() < end:
    if os.fork(): os._exit(0)
    os.setsid()
    time.sleep(0.001)`;

/** The beginning of each program: how to start the process that stays, and how to wait. */
const head = `
  import { spawn, execFileSync } from 'node:child_process';
  import { writeFileSync } from 'node:fs';
  import { tmpdir } from 'node:os';
  import { join } from 'node:path';
  const { MARK, PORT } = process.env;
  const stay = ['-e', 'setTimeout(() => {}, 60_000)', 'stays', MARK];
  const serve = ['-e', \`require('net').createServer().listen(\${PORT})\`, 'stays', MARK];
  const alone = { detached: true, stdio: 'ignore', env: {} };
  const start = (args, how) => spawn(process.execPath, args, how).unref();
  const between = (args, how) => ['-e', \`require('child_process').spawn(process.execPath,
    \${JSON.stringify(args)}, \${JSON.stringify(how)}).unref()\`];
  const live = () => setInterval(() => {}, 60_000);
`;

/** @type {Record<string, string>} */
export const escapes = {
  'a child': `start(stay, {}); live();`,
  'its own process group': `
    spawn('python3', ['-c', 'import os, sys; os.setpgid(0, 0); os.execv(sys.argv[1], sys.argv[1:])', process.execPath, ...stay]); live();`,
  'its own session': `start(stay, { detached: true, stdio: 'ignore' }); live();`,
  'its own session, no environment': `start(stay, alone); live();`,
  'no environment, another folder': `start(stay, { ...alone, cwd: '/' }); live();`,
  'no environment, its parent gone at once': `start(stay, alone); process.exit();`,
  'the same, another folder': `start(stay, { ...alone, cwd: '/' }); process.exit();`,
  'double fork, no environment': `start(between(stay, alone), alone); live();`,
  'double fork, no environment, its program gone': `start(between(stay, alone), alone); process.exit();`,
  'double fork, listening': `start(between(serve, alone), alone); live();`,
  'double fork, another folder': `start(between(stay, { ...alone, cwd: '/' }), alone); live();`,
  'double fork, another folder, output open': `
    start(between(stay, { ...alone, cwd: '/', stdio: 'inherit' }), { ...alone, stdio: 'inherit' }); live();`,
  'double fork of Python, no environment': `spawn('python3', ['-c', ${JSON.stringify(python)}, process.execPath, ...stay]); live();`,
  'double fork of Python, its program gone': `
    execFileSync('python3', ['-c', ${JSON.stringify(python)}, process.execPath, ...stay]); process.exit();`,
  'a shell with setsid and env -i': `
    execFileSync('sh', ['-c', 'cd /; setsid env -i "$@" > /dev/null 2>&1 < /dev/null &', 'sh', process.execPath, ...stay]); live();`,
  'each starts the next and is gone': `
    const text = \`require('child_process').spawn(process.execPath, ['-e', process.argv[1], process.argv[1], 'stays',
      process.argv[3]], { detached: true, stdio: 'ignore', env: {} })\`;
    start(['-e', text, text, 'stays', MARK], alone); process.exit();`,
  'stopped, no environment': `
    start(['-e', 'process.kill(process.pid, "SIGSTOP")', 'stays', MARK], alone); process.exit();`,
  'in a PID namespace': `
    spawn('unshare', ['--pid', '--fork', '--mount-proc', process.execPath, ...stay], alone).unref(); live();`,
  'in a PID namespace, observed': `
    spawn('unshare', ['--pid', '--fork', '--mount-proc', process.execPath, ...stay], { stdio: 'ignore' }).unref(); live();`,
  'nginx, no environment': `
    const conf = join(tmpdir(), 'nginx.conf');
    writeFileSync(conf, \`pid \${tmpdir()}/pid; error_log /dev/null; events {} http { access_log off;
      client_body_temp_path \${tmpdir()}/a; proxy_temp_path \${tmpdir()}/b; fastcgi_temp_path \${tmpdir()}/c;
      uwsgi_temp_path \${tmpdir()}/d; scgi_temp_path \${tmpdir()}/e; server { listen 127.0.0.1:\${PORT}; } }\`);
    execFileSync('/usr/sbin/nginx', ['-c', conf], { ...alone, detached: false }); process.exit();`,
  'redis-server, no environment': `
    execFileSync('redis-server', ['--daemonize', 'yes', '--port', PORT, '--save', '', '--dir', '/'], { stdio: 'ignore', env: {} }); process.exit();`,
  'kills the keeper': `start(between(stay, { ...alone, cwd: '/' }), alone);
    setTimeout(() => process.kill(process.ppid, 'SIGKILL'), 300); live();`,
};

/** Each process forks the next within a millisecond, in a new session: no look at the process table catches it. */
export const fastHydra = `spawn('python3', ['-c', ${JSON.stringify(pythonHydra)}, 'stays', MARK], alone).unref(); live();`;

/** @param {string} escape */
export const programOf = (escape) => `${head}${escape}`;

/** For `skip`: what an escape needs and this machine lacks; CI has all of it. @param {string} name  of an escape */
export function missingFor(name) {
  const [command] = /python3|\/usr\/sbin\/nginx|redis-server/.exec(escapes[name]) ?? [];
  const isMissing = command && !process.env.CI && spawnSync(command, ['--version']).error;
  return isMissing && `${command} is not installed`;
}

const DAEMON = /^(nginx: |redis-server )/; // each writes its own command line

/** The processes with this mark that stay, and in a namespace all daemons. @param {string} mark @returns {number[]} */
export function staying(mark) {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const text = readFileSync(`/proc/${name}/cmdline`, 'utf8');
      return text.includes(`stays\0${mark}\0`) || DAEMON.test(text) ? [Number(name)] : [];
    } catch {
      return []; // it has just exited
    }
  });
}
