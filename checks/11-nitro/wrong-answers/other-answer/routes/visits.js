import cluster from 'node:cluster';

// A counter, as one writes it for one process.
export default defineEventHandler(async () => {
  const storage = useStorage();
  const visits = ((await storage.getItem('visits')) ?? 0) + 1;
  await storage.setItem('visits', visits);
  return cluster.isWorker ? { visits, worker: cluster.worker.id } : { visits, pid: process.pid };
});
