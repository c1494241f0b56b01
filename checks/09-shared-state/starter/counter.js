// Counts by name, in the memory of the process that calls this.
export function createCounter() {
  const counts = new Map(); // name → count

  const read = (name) => counts.get(name) ?? 0;

  // #region add
  // Task 1: an increment that comes again, with the same id, counts once, and is answered as before.
  function add(name, id) {
    counts.set(name, read(name) + 1);
    return read(name);
  }
  // #endregion add

  return { add, read };
}
