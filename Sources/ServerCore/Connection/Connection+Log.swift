// SPDX-License-Identifier: Apache-2.0

public import Logging
internal import Sessions
internal import StatewireJSON

// The members by which log lines of one connection, session or request can be joined.
extension Connection {
  /// Returns the metadata of a log line about this connection.
  ///
  /// - Shape: `connection`, an id that no other connection of the process has; `session`, the first
  ///   digits of the handle, if the session has one; `identity`, if the client has shown a token; and
  ///   the other members.
  public func logMetadata(_ others: Logger.Metadata = [:]) -> Logger.Metadata {
    var metadata = others
    metadata["connection"] = "\(shard.place.index).\(writer.id)"
    if let handle = participant.session.handle {
      metadata["session"] = "\(handle.abbreviated)"
    }
    if let identity { metadata["identity"] = "\(identity)" }
    return metadata
  }

  /// Returns the metadata of a log line about a request.
  ///
  /// - Shape: As above, and `request`, the JSON text of the id unless it is a notification.
  func logMetadata(
    of request: Request, _ others: Logger.Metadata = [:]
  ) -> Logger.Metadata {
    var metadata = logMetadata(others)
    if let id = request.id {
      // The client has chosen the id, and it may be long.
      metadata["request"] =
        "\(String(decoding: id.prefix(Self.loggedIDBytes), as: UTF8.self).printable)"
    }
    return metadata
  }

  private static var loggedIDBytes: Int { 100 }
}
