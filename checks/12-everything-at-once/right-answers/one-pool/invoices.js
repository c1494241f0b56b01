import { ask } from './ask.js';

export const makeInvoice = (order) => ask('invoice', order);
