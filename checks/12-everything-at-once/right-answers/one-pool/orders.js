import { ask } from './ask.js';

export const addOrder = (order) => ask('add', order);
export const findOrder = (id) => ask('find', id);
export const readStats = () => ask('stats');
