// SPDX-License-Identifier: Apache-2.0

public import ClientTransports

extension ClientConnection {
  public func send(_ text: String) async throws { try await send([UInt8](text.utf8)) }

  /// Returns the next message as text; nil at the end.
  public func receiveText() async throws -> String? {
    try await receive().map { String(decoding: $0, as: UTF8.self) }
  }
}
