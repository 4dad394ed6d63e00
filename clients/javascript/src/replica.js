// SPDX-License-Identifier: Apache-2.0

import { digest } from "./digest.js";
import { applyPatch } from "./patch.js";

export class Replica {
	revision = null;
	state;

	take({ revision, state }) {
		this.revision = revision;
		this.state = state;
	}

	forget() {
		this.take({ revision: null });
	}

	/** Returns what is wrong with a frame; then the state is as it was. */
	change({ base, revision, patch, state }) {
		if (base !== this.revision) return "gap";
		try {
			this.take({ revision, state: patch === undefined ? state : applyPatch(this.state, patch) });
		} catch {
			return "patch";
		}
	}

	difference({ revision, digest: expected }) {
		// Frames may have come that are newer than the answer.
		if (this.revision > revision) return undefined;
		if (this.revision !== revision) return "gap";
		return digest(this.state) === expected ? undefined : "digest";
	}
}
