/**
 * A value that survives a reload: change it in place, then save it.
 * @template {object} Value  @param {Storage} storage  @param {string} name  @param {Value} first
 * @returns {{ value: Value, save: () => void }}
 */
export function remember(storage, name, first) {
  const value = { ...first, ...read(storage, name) };
  return { value, save: () => storage.setItem(name, JSON.stringify(value)) };
}

function read(storage, name) {
  try {
    return JSON.parse(storage.getItem(name)) ?? {};
  } catch {
    return {}; // another program's value
  }
}
