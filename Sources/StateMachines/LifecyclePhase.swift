// SPDX-License-Identifier: Apache-2.0

/// The phase of a session: active while at least one of its frontends is active.
public enum LifecyclePhase: String, Codable, Sendable {
  /// At least one frontend is active.
  case active
  /// No frontend is active.
  case inactive
}
