// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// The sources that an operator has registered, by their names.
///
/// Names are equal if their UTF-8 bytes are.
public struct LoadingSources: Sendable, ExpressibleByDictionaryLiteral {
  private var sources: [ByteString: any LoadingSource] = [:]
  /// The values that have been loaded from them.
  let values = SharedLoadedValues()

  /// The sources with their names; the last one of a name counts.
  public init(_ sources: some Sequence<(name: String, source: any LoadingSource)>) {
    for (name, source) in sources { self.sources[ByteString(name)] = source }
  }

  public init(dictionaryLiteral sources: (String, any LoadingSource)...) {
    self.init(sources.map { (name: $0.0, source: $0.1) })
  }

  /// The source with a name; nil if nobody has registered one.
  public subscript(name: String) -> (any LoadingSource)? {
    get { sources[ByteString(name)] }
    set { sources[ByteString(name)] = newValue }
  }
}
