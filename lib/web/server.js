/**
 * The local web server, of the deck, the learner's page and the board of a class: it answers on the loopback interface
 * only, unless told an address, to its own Host and Origin only, and does something only for who has read a page of it (the
 * token in it).
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { isIPv6 } from 'node:net';
import { fileURLToPath } from 'node:url';
import express from 'express';
import { UsageError } from '../common/usage-error.js';
import { fonts } from './fonts.js';
import { contentPolicy } from './page-shell.js';

export const LOOPBACK = '127.0.0.1';

/** What browsers load of a room of lib/: it has the same path below lib/ as in an address. @param {string} room */
export const clientFolder = (room) => fileURLToPath(new URL(`../${room}/client`, import.meta.url));

/**
 * @typedef {object} Limits  for what listens beyond this machine
 * @property {number} [maxConnections]  open at once
 * @property {number} [mostFromOne]  of these, from one address
 * @property {number} [headersTimeout]  in ms, also for a connection that says nothing
 * @property {number} [requestTimeout]  in ms
 * @property {number} [connectionsCheckingInterval]  in ms: how often the two are looked at
 */

/**
 * Opens a server: what browsers load of its room and of lib/web, if it has pages, and what `mount` adds to it.
 * @param {object} options
 * @param {string} [options.host]  an address of this machine; the loopback interface unless told
 * @param {number} [options.port]  0: any that is free
 * @param {string} [options.room]  of lib/, whose pages it shows; without it there are none
 * @param {Limits} [options.limits]
 * @param {(port: number) => string} options.another  what to do when that port is taken
 * @param {(app: import('express').Express, token: string) => void} options.mount
 * @returns {Promise<{ url: string, token: string, close: () => Promise<void> }>}
 * @throws {UsageError}  when the port is taken, or no such address is here
 */
export async function openServer({ host = LOOPBACK, port = 0, room, ...options }) {
  const { limits: { maxConnections, mostFromOne, ...limits } = {}, ...rest } = options;
  const { another, mount } = rest;
  const token = randomBytes(18).toString('base64url');
  const app = express();
  const server = Object.assign(createServer(limits, app), { maxConnections });
  if (mostFromOne) limitEach(server, mostFromOne);
  const portOf = () => /** @type {import('node:net').AddressInfo} */ (server.address()).port;
  const names = () => namesOf(host).map((name) => `${name}:${portOf()}`);
  app.disable('x-powered-by');
  app.use(guard(names), headers);
  for (const name of room ? [room, 'web'] : [])
    app.use(
      `/${name}/client`,
      express.static(clientFolder(name), { index: false, redirect: false }),
    );
  if (room) app.get('/fonts/:name', sendFont);
  mount(app, token);
  app.use(
    (request, response) => void response.status(404).type('text').send('There is no such page.\n'),
  );
  app.use(tellFault);
  await listen(server, { host, port, another });
  return {
    url: `http://${names()[0]}/`,
    token,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Lets nobody through who has not read a page of this server. @param {string} token */
export function demandToken(token) {
  return (request, response, next) => {
    if (isSame(request.get('x-forkshop-token') ?? '', token)) return next();
    response.status(403).type('text').send('Reload the page: its token is not valid.\n');
  };
}

/** Takes equally long whatever is the same of the two. @param {string} given  @param {string} wanted */
export function isSame(given, wanted) {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** A page, or in plain words why there is none (tellFault): a mistake in a text must not end the class. */
export const send = (response, make) => void response.type('html').send(make());

/** An address that cannot be read, or a fault of ours: whoever asked learns no more than that. */
function tellFault(error, request, response, next) {
  if (error instanceof UsageError && !response.headersSent)
    return void response.status(500).type('text').send(`${error.message}\n${error.hint}\n`);
  const isTheirs = error.status >= 400 && error.status < 500;
  if (!isTheirs) console.error(error);
  if (response.headersSent) return next(error);
  const words = isTheirs ? 'This cannot be understood.\n' : 'That went wrong; see the terminal.\n';
  response
    .status(isTheirs ? error.status : 500)
    .type('text')
    .send(words);
}

/** Closes the connections of an address that has more than its share. */
function limitEach(/** @type {import('node:http').Server} */ server, /** @type {number} */ most) {
  /** @type {Map<string, number>} */
  const open = new Map();
  server.on('connection', (socket) => {
    const from = socket.remoteAddress ?? '';
    const count = open.get(from) ?? 0;
    if (count >= most) return void socket.destroy();
    open.set(from, count + 1);
    socket.once('close', () => {
      const left = Number(open.get(from)) - 1;
      if (left > 0) open.set(from, left);
      else open.delete(from);
    });
  });
}

function listen(server, { host, port, another }) {
  const told = {
    EADDRINUSE: () => new UsageError(`Port ${port} is taken.`, another(port)),
    EADDRNOTAVAIL: () =>
      new UsageError(`This machine does not have the address ${host}.`, 'Name one that it has.'),
  };
  return new Promise((resolve, reject) => {
    server.once('error', (/** @type {NodeJS.ErrnoException} */ error) =>
      reject(told[error.code ?? '']?.() ?? error),
    );
    server.listen(port, host, resolve);
  });
}

/** What a client may call an address, the first as we do. @param {string} host */
function namesOf(host) {
  if (host === LOOPBACK) return [host, 'localhost'];
  return [isIPv6(host) ? `[${host}]` : host];
}

/** A page of another origin, or a name that leads here by DNS, gets nothing. */
function guard(names) {
  return (request, response, next) => {
    const { host, origin } = request.headers;
    const isOurs =
      names().includes(host) && (!origin || names().includes(origin.replace('http://', '')));
    if (isOurs) return next();
    response.status(403).type('text').send('This server answers only to its own address.\n');
  };
}

/** Kept by the browser for a day, unlike all else: it doesn't change, and each page needs it. */
function sendFont({ params }, response, next) {
  const file = Object.hasOwn(fonts, params.name) && fonts[params.name];
  if (file) response.set('Cache-Control', 'max-age=86400').sendFile(file);
  else next();
}

function headers(request, response, next) {
  response.set({
    'Content-Security-Policy': `${contentPolicy}; frame-ancestors 'none'`,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Cache-Control': 'no-store',
  });
  next();
}
