// SPDX-License-Identifier: Apache-2.0

/** Milliseconds before each further attempt: longer each time, and a part of them by chance, so that
 * the frontends of a server that restarts do not come all at once. */
export class Backoff {
  constructor({ base = 200, max = 10_000, random = Math.random } = {}) {
    Object.assign(this, { base, max, random, attempts: 0 });
  }

  next() {
    const whole = Math.min(this.max, this.base * 2 ** this.attempts++);
    return whole * (0.5 + 0.5 * this.random());
  }
}
