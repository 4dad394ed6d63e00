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

	/** Applies an update. Returns a divergence, if any; then the state is unchanged. */
	apply({ base, revision, patch, state }) {
		if (base !== this.revision) return "gap";
		try {
			this.take({ revision, state: patch === undefined ? state : applyPatch(this.state, patch) });
		} catch {
			return "patch";
		}
	}

	compare({ revision, digest: expected }) {
		// Newer updates may have arrived before the result.
		if (this.revision > revision) return undefined;
		if (this.revision !== revision) return "gap";
		return digest(this.state) === expected ? undefined : "digest";
	}
}
