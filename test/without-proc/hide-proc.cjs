// A preload: in this process and in all its children the system is called macOS, and nothing is readable below /proc. A Mac's
// `ps`, signals and process groups remain. It can't stand in for a Mac's kernel.
const childProcess = require('node:child_process');
const fs = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');

/** A bundler loads a binary that is named after the platform: only the real platform's is installed here. */
const isBundler = /[/\\]nitropack[/\\]/.test(process.argv[1] ?? '');
if (!isBundler) Object.defineProperty(process, 'platform', { value: 'darwin' });

const isHidden = (path) => /^\/(proc|sys)(\/|$)/.test(String(path));

const refusal = (call, path) =>
  Object.assign(new Error(`ENOENT: no such file or directory, ${call} '${path}'`), {
    code: 'ENOENT',
    errno: -2,
    syscall: call,
    path,
  });

for (const call of ['openSync', 'readFileSync', 'readdirSync', 'readlinkSync', 'statSync']) {
  const real = fs[call];
  fs[call] = (path, ...rest) => {
    if (isHidden(path)) throw refusal(call, path);
    return real(path, ...rest);
  };
}
const { existsSync } = fs;
fs.existsSync = (path) => !isHidden(path) && existsSync(path);

/** Our own processes start without the NODE_OPTIONS of the user: this preload reaches them anyway. */
const withPreload = (options = {}) => {
  const env = { ...(options.env ?? process.env) };
  const preload = `--require=${__filename}`;
  if (!env.NODE_OPTIONS?.includes(preload))
    env.NODE_OPTIONS = `${env.NODE_OPTIONS ?? ''} ${preload}`.trim();
  return { ...options, env };
};

for (const call of ['spawn', 'spawnSync', 'fork']) {
  const real = childProcess[call];
  childProcess[call] = (file, args, options) =>
    Array.isArray(args)
      ? real(file, args, withPreload(options))
      : real(file, withPreload(args ?? options));
}
syncBuiltinESMExports();
