// SPDX-License-Identifier: Apache-2.0

/** Who wants to hear of what, by name. */
export class Emitter {
  #listeners = new Map();

  /** Calls the listener at each event of this type, until the function that comes back is called. */
  on(type, listener) {
    const listeners = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, listeners);
    // Each registration is one of its own, also of one function twice.
    const entry = (value) => listener(value);
    listeners.add(entry);
    return () => listeners.delete(entry);
  }

  emit(type, value) {
    for (const listener of [...(this.#listeners.get(type) ?? [])]) guarded(listener, value);
  }
}

/** Calls back; what a listener throws is its own fault, and reported as one that nobody caught. */
export function guarded(listener, value) {
  try {
    listener(value);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
