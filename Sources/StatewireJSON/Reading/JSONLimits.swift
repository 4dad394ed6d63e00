// SPDX-License-Identifier: Apache-2.0

/// Limits on the work that a JSON text or patch may cause.
public struct JSONLimits: Sendable, Equatable {
  /// The greatest nesting depth of arrays and objects; `[[]]` has depth 2.
  public var maximumDepth: Int

  /// The largest number of values in all copies that one patch makes.
  ///
  /// Copying the document into itself doubles it, so without this limit a short patch could need
  /// any amount of memory.
  public var maximumCopiedValues: Int

  /// Creates limits; the defaults are suitable for untrusted clients.
  public init(maximumDepth: Int = 128, maximumCopiedValues: Int = 1_000_000) {
    self.maximumDepth = maximumDepth
    self.maximumCopiedValues = maximumCopiedValues
  }

  /// The limits for texts that this program has accepted and stored: they must be readable again.
  package static var stored: JSONLimits { JSONLimits(maximumDepth: 1_000) }
}
