// Counts by name, in the memory of the process that calls this.
export function createCounter() {
  const counts = new Map(); // name → count

  const read = (name) => counts.get(name) ?? 0;

  // #region add
  const answers = new Map(); // id → what its increment was answered; for ten minutes

  function add(name, id) {
    if (answers.has(id)) return answers.get(id); // it comes again: it was counted, the answer was lost
    const count = read(name) + 1;
    counts.set(name, count);
    answers.set(id, count);
    setTimeout(() => answers.delete(id), 600_000).unref();
    return count;
  }
  // #endregion add

  return { add, read };
}
