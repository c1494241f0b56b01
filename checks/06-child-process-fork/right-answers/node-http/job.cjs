const { createHash } = require('node:crypto');

setInterval(() => console.log(`process ${process.pid} is there`), 60_000);

process.on('message', ({ id, job: { name, rows } }) => {
  let digest = name;
  while (rows-- > 0) digest = createHash('sha256').update(digest).digest('hex');
  process.send({ id, digest }, (error) => error && process.exit(0));
});
process.once('disconnect', () => process.exit(0));
