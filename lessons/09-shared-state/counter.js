// Counts by name, in the memory of the process that calls this.
export function createCounter() {
  const counts = new Map(); // name → count
  const answers = new Map(); // id → the count that its increment was answered

  const read = (name) => counts.get(name) ?? 0;

  // The answer to an id is known for ten minutes.
  function remember(id, count) {
    answers.set(id, count);
    setTimeout(() => answers.delete(id), 600_000).unref();
  }

  // #region add
  // Task 1: an id that comes again counts once, and gets the same answer.
  function add(name, id) {
    counts.set(name, read(name) + 1);
    return read(name);
  }
  // #endregion add

  return { add, read };
}
