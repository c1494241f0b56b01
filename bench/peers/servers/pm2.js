// For PM2's cluster mode, with the graceful stop of its documentation.
import http from 'node:http';
import { handle } from '../app.js';

const server = http.createServer(handle).listen(process.env.PORT);
process.on('SIGINT', () => server.close(() => process.exit()));
