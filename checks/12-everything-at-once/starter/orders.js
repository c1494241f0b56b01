// #region orders
const orders = new Map(); // id → order
let pieces = 0; // sold

export async function addOrder(order) {
  orders.set(order.id, order);
  pieces += order.pieces;
  return order;
}

export async function findOrder(id) {
  return orders.get(id);
}

export async function readStats() {
  return { orders: orders.size, pieces };
}
// #endregion orders
