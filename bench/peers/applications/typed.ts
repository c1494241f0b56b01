// TypeScript, as Node.js 24 runs it: the types are stripped.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

const greet = (request: IncomingMessage, response: ServerResponse): void => {
  response.end(`Hello ${request.url}`);
};
createServer(greet).listen(Number(process.env.PORT));
