// SPDX-License-Identifier: Apache-2.0

/// The place of a session that this node does not serve.
public enum SessionPlace: Sendable {
  /// Another node serves it.
  case node(ClusterNode)
  /// The place is not known, because the database does not respond.
  case unknown
  /// No node serves it, because this one cannot read it.
  case unreadable
}
