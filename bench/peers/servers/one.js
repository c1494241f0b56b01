// One process: the control.
import http from 'node:http';
import { handle } from '../app.js';

http.createServer(handle).listen(process.env.PORT);
