import { buildInvoice } from './job.js';

process.on('message', (order) => process.send(buildInvoice(order)));
