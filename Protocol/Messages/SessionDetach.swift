// SPDX-License-Identifier: Apache-2.0

/// Leaves the session, which lives on; the connection goes on with a new one of its own.
///
/// - Shape: no params; result `{}`
public enum SessionDetach {
  public static let method: StaticString = "session/detach"
}

/// Ends the session with all its stores, for all its frontends.
///
/// - Shape: no params; result `{}`
public enum SessionClose {
  public static let method: StaticString = "session/close"
}

/// Tells what is in the session and who is attached.
///
/// - Shape: no params; result `{"session": String | null, "frontend": String | null, "role": Role,
///   "stores": [{"store": String, "kind": String, "revision": Int, "closed": Bool}], "frontends":
///   [{"frontend": String | null, "role": Role, "phase": Phase, "self": Bool}], "outlives": Number}`;
///   the last in seconds.
public enum SessionInfo {
  public static let method: StaticString = "session/info"
}
