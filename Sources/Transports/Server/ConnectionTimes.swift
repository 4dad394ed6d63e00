// SPDX-License-Identifier: Apache-2.0

/// The time limits of connections that no option changes.
enum ConnectionTimes {
  /// For requests that were sent before the end of the input.
  static let openRequests = Duration.seconds(3)
  /// For a pause of the client while it reads the rest of the output.
  static let withoutReading = Duration.seconds(30)
  /// For a client that was sent everything to close its direction.
  static let toClose = Duration.seconds(1)
}
