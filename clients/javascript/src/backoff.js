// SPDX-License-Identifier: Apache-2.0

/**
 * How long to wait before each further attempt: twice as long each time, at most `max`, and each
 * time a part of it by chance, so that a thousand frontends of a server that restarts do not come at once.
 */
export class Backoff {
  #attempts = 0;

  constructor({ base = 200, max = 10_000, random = Math.random } = {}) {
    Object.assign(this, { base, max, random });
  }

  /** Milliseconds. */
  next() {
    const whole = Math.min(this.max, this.base * 2 ** this.#attempts++);
    return whole * (0.5 + 0.5 * this.random());
  }

  reset() {
    this.#attempts = 0;
  }
}
