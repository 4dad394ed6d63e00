// SPDX-License-Identifier: Apache-2.0

/// How much a text may ask of whoever reads it.
public struct JSONLimits: Sendable, Equatable {
  /// How deep arrays and objects may nest; `[[]]` is two deep.
  public var maximumDepth: Int

  /// How many values the copies made by one patch may hold in all.
  ///
  /// Copying the document into itself doubles it, so a short patch could ask for any amount.
  public var maximumCopiedValues: Int

  /// The limits that a server of untrusted peers wants.
  public init(maximumDepth: Int = 128, maximumCopiedValues: Int = 1_000_000) {
    self.maximumDepth = maximumDepth
    self.maximumCopiedValues = maximumCopiedValues
  }

  /// For what has been taken before and was written down by ourselves: whoever writes it, all can read it.
  package static var stored: JSONLimits { JSONLimits(maximumDepth: 1_000) }
}
