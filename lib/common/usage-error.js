/**
 * A mistake that the person at the keyboard can fix: a wrong name, a broken lesson file, a missing
 * folder. The command line prints `message` (what was wrong) and `hint` (what to do) without a
 * stack, and ends with exit code 2. Every other error is a bug in Forkshop itself.
 */
export class UsageError extends Error {
  /**
   * @param {string} message what was wrong, as full sentences
   * @param {string} [hint] what to do now, as full sentences
   */
  constructor(message, hint = '') {
    super(message);
    this.name = 'UsageError';
    this.hint = hint;
  }
}

/** The same, for the machine that Forkshop runs on: a full disk, a missing folder. Its exit code is 3. */
export class EnvironmentError extends UsageError {}
