// SPDX-License-Identifier: Apache-2.0

/**
 * A value that changes, for consumers of any speed: each gets the newest value whenever it asks for
 * one and there is one that it has not had. Nothing is queued, so nobody can fall behind.
 */
export class Newest {
  #value;
  #version = 0;
  #ended = false;
  #error;
  #waiting = new Set();

  set(value) {
    this.#value = value;
    this.#version++;
    this.#wake();
  }

  /** Ends all iterations, after the newest value; with an error where there is one. */
  end(error) {
    this.#ended = true;
    this.#error = error;
    this.#wake();
  }

  #wake() {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  async *values(signal) {
    let seen = 0;
    const wake = () => this.#wake();
    signal?.addEventListener("abort", wake);
    try {
      while (!signal?.aborted) {
        if (seen !== this.#version) {
          seen = this.#version;
          yield this.#value;
        } else if (this.#ended) {
          if (this.#error) throw this.#error;
          return;
        } else await new Promise((resolve) => this.#waiting.add(resolve));
      }
    } finally {
      signal?.removeEventListener("abort", wake);
    }
  }
}
