// SPDX-License-Identifier: Apache-2.0

import { digest } from "./digest.js";
import { applyPatch } from "./patch.js";

/** The state of a store as the server has told it, and its revision; null as long as it is not known. */
export class Replica {
  state = undefined;
  revision = null;

  get isKnown() {
    return this.revision !== null;
  }

  forget() {
    this.state = undefined;
    this.revision = null;
  }

  /** The whole state. */
  take({ revision, state }) {
    this.revision = revision;
    this.state = state;
  }

  /** One frame. Returns what is wrong with it, and then the state is as it was. */
  change({ base, revision, patch, state }) {
    if (base !== this.revision) return "gap";
    try {
      this.state = patch === undefined ? state : applyPatch(this.state, patch);
    } catch {
      return "patch";
    }
    this.revision = revision;
    return undefined;
  }

  /** What is wrong with this state, if it is not the one that the server says it has. */
  difference({ revision, digest: expected }) {
    if (this.revision !== revision) return "gap";
    return digest(this.state) === expected ? undefined : "digest";
  }
}
