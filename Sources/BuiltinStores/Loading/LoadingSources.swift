// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// The sources that an operator has registered, by name.
///
/// Names are equal if their UTF-8 bytes are equal.
public struct LoadingSources: Sendable, ExpressibleByDictionaryLiteral {
  private var sources: [ByteString: any LoadingSource] = [:]
  /// The values that were loaded from the sources and are still held.
  let values = SharedLoadedValues()

  /// Creates a table of sources; if a name occurs twice, the last source is used.
  public init(_ sources: some Sequence<(name: String, source: any LoadingSource)>) {
    for (name, source) in sources { self.sources[ByteString(name)] = source }
  }

  /// Creates a table of sources from a literal.
  public init(dictionaryLiteral sources: (String, any LoadingSource)...) {
    self.init(sources.map { (name: $0.0, source: $0.1) })
  }

  /// The source with a name; nil if there is none.
  public subscript(name: String) -> (any LoadingSource)? {
    get { sources[ByteString(name)] }
    set { sources[ByteString(name)] = newValue }
  }
}
