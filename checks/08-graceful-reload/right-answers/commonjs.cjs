// accepts: CommonJS and callbacks
const cluster = require('node:cluster');
const http = require('node:http');
const os = require('node:os');

const PORT = process.env.PORT || 8080;
const N = +(process.env.NODE_CLUSTER_WORKERS || os.availableParallelism());
const LIMIT = +(process.env.DRAIN_LIMIT_MS || 5000);

if (cluster.isWorker) {
  import('./app.js').then(function (app) {
    let closing = false;
    const server = http.createServer(function (req, res) {
      const end = res.end;
      res.end = function () {
        if (closing && !res.headersSent) res.setHeader('Connection', 'close');
        return end.apply(res, arguments);
      };
      app.handle(req, res);
    });
    function close() {
      if (closing) return;
      closing = true;
      setTimeout(function () {
        process.exit(1);
      }, LIMIT).unref();
      setTimeout(function () {
        cluster.worker.disconnect();
        setInterval(function () {
          server.closeIdleConnections();
        }, 150).unref();
      }, 150);
    }
    process.on('SIGTERM', close);
    process.on('SIGINT', function () {});
    process.on('message', function (m) {
      if (m.cmd === 'close') close();
    });
    server.listen(PORT);
  });
} else {
  let reloading = false;
  let again = false;
  let stopping = false;
  const release = function (worker, done) {
    let timer;
    worker.once('exit', function () {
      clearTimeout(timer);
      done();
    });
    const tell = function () {
      if (worker.isConnected()) worker.send({ cmd: 'close' }, function () {});
    };
    tell();
    worker.once('listening', tell);
    timer = setTimeout(function () {
      worker.process.kill('SIGKILL');
    }, LIMIT + 500);
  };
  const replace = function (olds, done) {
    const old = olds.shift();
    if (!old || stopping) return done();
    const fresh = cluster.fork();
    let up = false;
    fresh.once('listening', function () {
      up = true;
      if (old.isDead()) return replace(olds, done);
      release(old, function () {
        replace(olds, done);
      });
    });
    fresh.once('exit', function () {
      if (!up) done(new Error('worker ' + fresh.id + ' did not come up'));
    });
  };
  const reload = function () {
    if (reloading) {
      again = true;
      return;
    }
    reloading = true;
    replace(Object.values(cluster.workers), function (error) {
      if (error) console.error(error.message);
      reloading = false;
      if (again) {
        again = false;
        reload();
      }
    });
  };
  const stop = function () {
    stopping = true;
    let left = Object.keys(cluster.workers).length;
    Object.values(cluster.workers).forEach(function (worker) {
      release(worker, function () {
        if (--left === 0) process.exit(0);
      });
    });
  };
  process.on('SIGHUP', reload);
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  for (let i = 0; i < N; i++) cluster.fork();
}
