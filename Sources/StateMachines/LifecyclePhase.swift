// SPDX-License-Identifier: Apache-2.0

/// Whether somebody looks: a session is active while any of its frontends is.
public enum LifecyclePhase: String, Codable, Sendable {
  case active
  case inactive
}
