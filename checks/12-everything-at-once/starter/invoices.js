// #region invoices
import { buildInvoice } from './job.js';

export async function makeInvoice(order) {
  return buildInvoice(order);
}
// #endregion invoices
