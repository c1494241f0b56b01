export default defineNitroPlugin(() => {
  process.on('message', ({ leave }) => leave && process.kill(process.pid, leave));
});
