/** The local web server of deck, learner's page and board: it checks Host and Origin, and acts only on its pages' token. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { isIPv6 } from 'node:net';
import { fileURLToPath } from 'node:url';
import express from 'express';
import { UsageError } from '../common/usage-error.js';
import { fonts } from './fonts.js';
import { contentPolicy } from './page-shell.js';

export const LOOPBACK = '127.0.0.1';

/** The folder of lib/ that a browser loads as /room/client. @param {string} room */
export const clientFolder = (room) => fileURLToPath(new URL(`../${room}/client`, import.meta.url));

/**
 * @typedef {object} Limits  of a server that other machines reach
 * @property {number} [maxConnections]  open at once
 * @property {number} [mostFromOne]  of these, from one address
 * @property {number} [headersTimeout]  in ms, including silent connections
 * @property {number} [requestTimeout]  in ms
 * @property {number} [connectionsCheckingInterval]  in ms: how often the two are checked
 */

/**
 * @param {object} options
 * @param {string} [options.host]  of this machine; default loopback
 * @param {number} [options.port]  0: any free one
 * @param {string} [options.room]  of lib/, whose client/ it serves, beside that of lib/web
 * @param {Limits} [options.limits]
 * @param {(port: number) => string} options.another  the advice if that port is taken
 * @param {(app: import('express').Express, token: string) => void} options.mount
 * @returns {Promise<{ url: string, token: string, close: () => Promise<void> }>}
 * @throws {UsageError}  if the port is taken, or the machine lacks the address
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
  app.use(sendFault);
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

/** Refuses requests without the token of this server's pages. @param {string} token */
export function demandToken(token) {
  return (request, response, next) => {
    if (isSame(request.get('x-forkshop-token') ?? '', token)) return next();
    response.status(403).type('text').send('Reload the page: its token is not valid.\n');
  };
}

/** Compares in constant time. @param {string} given  @param {string} wanted */
export function isSame(given, wanted) {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Sends a page; if it can't be made, sendFault says why, so that a mistake in a text doesn't end the class. */
export const send = (response, make) => void response.type('html').send(make());

/** Answers an unreadable address, or a fault of ours, without details. */
function sendFault(error, request, response, next) {
  if (error instanceof UsageError && !response.headersSent)
    return void response.status(500).type('text').send(`${error.message}\n${error.hint}\n`);
  const isTheirs = error.status >= 400 && error.status < 500;
  if (!isTheirs) console.error(error);
  if (response.headersSent) return next(error);
  const words = isTheirs
    ? "This request can't be understood.\n"
    : 'That went wrong; see the terminal.\n';
  response
    .status(isTheirs ? error.status : 500)
    .type('text')
    .send(words);
}

/** Closes connections from an address that already has `most`. */
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
  const explanations = {
    EADDRINUSE: () => new UsageError(`Port ${port} is taken.`, another(port)),
    EADDRNOTAVAIL: () =>
      new UsageError(
        `This machine does not have the address ${host}.`,
        'Name an address that it has.',
      ),
  };
  return new Promise((resolve, reject) => {
    server.once('error', (/** @type {NodeJS.ErrnoException} */ error) =>
      reject(explanations[error.code ?? '']?.() ?? error),
    );
    server.listen(port, host, resolve);
  });
}

/** The names that a client may use for an address, ours first. @param {string} host */
function namesOf(host) {
  if (host === LOOPBACK) return [host, 'localhost'];
  return [isIPv6(host) ? `[${host}]` : host];
}

/** Refuses pages of other origins, and names that DNS rebinding points here. */
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
