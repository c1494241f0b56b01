// A preload: at SIGUSR2 the process prints a line on stderr with its memory, handles and listeners.
process.on('SIGUSR2', () => {
  globalThis.gc?.();
  const kinds = {};
  for (const kind of process.getActiveResourcesInfo()) kinds[kind] = (kinds[kind] ?? 0) + 1;
  const names = process.eventNames();
  const listeners = names.reduce((sum, name) => sum + process.listenerCount(name), 0);
  const { heapUsed, rss } = process.memoryUsage();
  process.stderr.write(`holds ${JSON.stringify({ heapUsed, rss, listeners, kinds })}\n`);
});
