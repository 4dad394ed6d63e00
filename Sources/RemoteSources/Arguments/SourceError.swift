// SPDX-License-Identifier: Apache-2.0

/// Why a source or service that the operator named cannot be used.
public struct SourceError: Error, CustomStringConvertible, Equatable, Sendable {
  /// One sentence for the person who started the program; it never quotes a URL, which may hold a
  /// key.
  public let message: String

  init(_ message: String) { self.message = message }

  public var description: String { message }
}
