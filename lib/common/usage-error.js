/** A mistake that the user can fix: the command line prints message and hint without a stack. Exit code 2. Any other error is our bug. */
export class UsageError extends Error {
  /** @param {string} message  what was wrong, in full sentences @param {string} [hint]  what to do, in full sentences */
  constructor(message, hint = '') {
    super(message);
    this.name = 'UsageError';
    this.hint = hint;
  }
}

/** A problem of the machine, such as a full disk. Exit code 3. */
export class EnvironmentError extends UsageError {}
