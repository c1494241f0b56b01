// Forked by entry.js and cwd.js: says what it is, and has nothing more to do.
import { basename } from 'node:path';

const [, file, ...args] = process.argv;
console.log(`forked child: runs ${basename(file)} with [${args}] in ${process.cwd()}`);
