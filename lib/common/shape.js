/** Predicates that validate a value read back from a file. @typedef {(value: unknown) => boolean} Shape */

/** @type {Shape} */
export const isText = (value) => typeof value === 'string';
/** @type {Shape} */
export const isFlag = (value) => typeof value === 'boolean';
/** @type {Shape} */
export const isNumber = Number.isFinite;
/** @type {Shape} */
export const isCount = (value) => Number.isInteger(value) && Number(value) >= 0;
/** A JSON object: neither null nor an array. @type {Shape} */
export const isRecord = (value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** JSON writes NaN and Infinity as null. @param {Shape} shape  @returns {Shape} */
export const maybe = (shape) => (value) => value === undefined || value === null || shape(value);

/** @param {Shape} shape  of each item  @returns {Shape} */
export const listOf = (shape) => (value) => Array.isArray(value) && value.every(shape);

/** @param {Shape} shape  of each value, by any name  @returns {Shape} */
export const recordOf = (shape) => (value) =>
  isRecord(value) && Object.values(/** @type {object} */ (value)).every(shape);

/** @param {Record<string, Shape>} fields  others are free  @returns {Shape} */
export const having = (fields) => (value) =>
  isRecord(value) &&
  Object.entries(fields).every(([name, shape]) => shape(/** @type {any} */ (value)[name]));

/** @param {string} text @param {Shape} shape @returns {any}  undefined if the text isn't JSON or the value doesn't have this shape */
export function parseAs(text, shape) {
  try {
    const value = JSON.parse(text);
    return shape(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
