// SPDX-License-Identifier: Apache-2.0

/// A case of an enum as a value: a function that makes the case from its payload, and one that reads
/// the payload back.
///
/// ```swift
/// CasePath(Input.left) { if case .left(let input) = $0 { input } else { nil } }
/// ```
public struct CasePath<Root, Value>: Sendable {
  /// Makes the case from its payload.
  let embed: @Sendable (Value) -> Root
  /// Returns the payload; nil for a value that is another case.
  let extract: @Sendable (Root) -> Value?
  /// Returns true for a value that is this case.
  let matches: @Sendable (Root) -> Bool

  init(
    embed: @escaping @Sendable (Value) -> Root, extract: @escaping @Sendable (Root) -> Value?,
    matches: @escaping @Sendable (Root) -> Bool
  ) {
    (self.embed, self.extract, self.matches) = (embed, extract, matches)
  }

  /// Creates a path to a case with one payload.
  ///
  /// - Parameters:
  ///   - embed: Makes the case from its payload: the case itself, such as `Input.left`.
  ///   - extract: Returns the payload; nil for a value that is another case.
  public init(
    _ embed: @escaping @Sendable (Value) -> Root, _ extract: @escaping @Sendable (Root) -> Value?
  ) {
    self.init(embed: embed, extract: extract, matches: { extract($0) != nil })
  }

  /// Creates a path to a case whose payload is an id and a value.
  ///
  /// - Parameters:
  ///   - embed: Makes the case from its payload: the case itself, such as `Input.card`.
  ///   - extract: Returns the payload; nil for a value that is another case.
  public init<ID, Part>(
    _ embed: @escaping @Sendable (ID, Part) -> Root,
    _ extract: @escaping @Sendable (Root) -> (ID, Part)?
  ) where Value == (ID, Part) {
    self.init({ embed($0.0, $0.1) }, extract)
  }
}
