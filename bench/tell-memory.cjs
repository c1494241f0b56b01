// Preloaded into a process that is watched: at SIGUSR2 it tells on stderr, in one line, what it holds.
process.on('SIGUSR2', () => {
  globalThis.gc?.();
  const kinds = {};
  for (const kind of process.getActiveResourcesInfo()) kinds[kind] = (kinds[kind] ?? 0) + 1;
  const names = process.eventNames();
  const listeners = names.reduce((sum, name) => sum + process.listenerCount(name), 0);
  const { heapUsed, rss } = process.memoryUsage();
  process.stderr.write(`holds ${JSON.stringify({ heapUsed, rss, listeners, kinds })}\n`);
});
