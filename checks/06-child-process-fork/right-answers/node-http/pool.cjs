const { fork } = require('node:child_process');
const path = require('node:path');

exports.Pool = class Pool {
  constructor(size) {
    this.waiting = [];
    this.members = Array.from({ length: size }, () => this.hire({}));
  }

  /** Puts a new child into a member's place. */
  hire(member) {
    member.child = fork(path.join(__dirname, 'job.cjs'));
    member.child.on('message', ({ id, digest }) => this.settle(member, id, null, digest));
    member.child.on('exit', () => {
      this.hire(member);
      if (member.task) this.settle(member, member.task.id, new Error('the child died'));
    });
    return member;
  }

  settle(member, id, error, digest) {
    if (member.task?.id !== id) return;
    const { callback } = member.task;
    member.task = undefined;
    callback(error, digest);
    this.next();
  }

  next() {
    const free = this.members.find((member) => !member.task);
    if (!free || this.waiting.length === 0) return;
    free.task = this.waiting.shift();
    free.child.send({ id: free.task.id, job: free.task.job }, () => {});
  }

  build(job, callback) {
    this.last = (this.last ?? 0) + 1;
    this.waiting.push({ id: this.last, job, callback });
    this.next();
  }
};
