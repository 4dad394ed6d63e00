// SPDX-License-Identifier: Apache-2.0

/** Waits longer each time, and a part of it by chance: not all frontends come back at once. */
export class Backoff {
  constructor({ base = 200, max = 10_000, random = Math.random } = {}) {
    Object.assign(this, { base, max, random, attempts: 0 });
  }

  next() {
    const whole = Math.min(this.max, this.base * 2 ** this.attempts++);
    return whole * (0.5 + 0.5 * this.random());
  }
}
