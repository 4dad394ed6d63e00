// SPDX-License-Identifier: Apache-2.0

/// The phase of a session: active while at least one of its frontends is active.
public enum LifecyclePhase: String, Codable, Sendable {
  case active
  case inactive
}
