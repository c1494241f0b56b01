import { handle } from '../../app.js';

export default defineEventHandler(({ node }) => handle(node.req, node.res));
