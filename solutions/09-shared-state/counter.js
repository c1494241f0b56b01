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
  function add(name, id) {
    if (answers.has(id)) return answers.get(id); // counted before: only the answer was lost
    const count = read(name) + 1;
    counts.set(name, count);
    remember(id, count);
    return count;
  }
  // #endregion add

  return { add, read };
}
