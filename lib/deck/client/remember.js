/** What this window still knows when it is loaded again. */

/**
 * @template {object} Value
 * @param {Storage} storage
 * @param {string} name
 * @param {Value} first  what is known at first
 * @returns {{ value: Value, save: () => void }}  change the value in place, then save it
 */
export function remember(storage, name, first) {
  const value = { ...first, ...read(storage, name) };
  return { value, save: () => storage.setItem(name, JSON.stringify(value)) };
}

function read(storage, name) {
  try {
    return JSON.parse(storage.getItem(name)) ?? {};
  } catch {
    return {}; // not written by us
  }
}
