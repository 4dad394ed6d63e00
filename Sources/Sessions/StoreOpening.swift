// SPDX-License-Identifier: Apache-2.0

public import StateMachines
public import StatewireJSON

/// A request to open a store, and what can be done for it on any thread.
public struct StoreOpening: Sendable {
  let store: String
  let kind: String
  /// The configuration as JSON text, which takes less room than the tree.
  let configuration: [UInt8]
  private let maker: StoreKind?
  /// The configuration as the kind has read it.
  private var value: Result<any Sendable, JSONError>
  /// What `prepare` has made, for the store to find while this is there.
  private var prepared: (any Sendable)?

  /// - Parameters:
  ///   - store: The name of the store.
  ///   - kind: Its kind.
  ///   - configuration: What the kind asks for.
  ///   - kinds: The kinds that there are.
  public init(_ store: String, kind: String, configuration: JSONValue, of kinds: [StoreKind]) {
    self.store = store
    self.kind = kind
    self.configuration = configuration.jsonBytes()
    let maker = kinds.named(kind)
    self.maker = maker
    value = Result { () throws(JSONError) in try maker?.read(configuration) ?? configuration }
  }

  /// True if `prepare` has something to do, and there is room for the store.
  func takesLong(_ shared: SharedValues) -> Bool {
    guard preparation != nil, let maker, let value = try? value.get() else { return false }
    return (try? maker.admit(value, shared)) != nil
  }

  private var preparation: (@Sendable () -> any Sendable)? {
    guard let maker, let value = try? value.get() else { return nil }
    return maker.preparation(value)
  }

  /// Makes what takes long to make, so that opening the store takes a moment.
  public mutating func prepare() { prepared = preparation?() }

  /// - Throws: `SessionError.unknownKind`.
  func knownKind() throws(SessionError) -> StoreKind {
    guard let maker else { throw .unknownKind(kind) }
    return maker
  }

  func readConfiguration() throws(JSONError) -> any Sendable { try value.get() }
}

extension Session {
  /// True if a store takes long to open, so that another thread should prepare it.
  public func mayPrepare(_ opening: StoreOpening, isolation shard: isolated Shard) -> Bool {
    if let storeEntry = storeEntries[opening.store], !storeEntry.isClosed { return false }
    shared.identity = identity
    return opening.takesLong(shared)
  }

  /// Opens a store of some kind under a name, as above.
  ///
  /// - Parameters:
  ///   - name: The name, compared by its bytes.
  ///   - kind: The name of the kind.
  ///   - configuration: The object that the kind asks for.
  ///   - shard: The shard that the session lives on.
  /// - Returns: The revision of its state.
  /// - Throws: `SessionError`; nothing has changed then.
  public func open(
    _ name: String, kind: String, configuration: JSONValue, isolation shard: isolated Shard
  ) throws(SessionError) -> Revision {
    try open(
      StoreOpening(name, kind: kind, configuration: configuration, of: shard.kinds),
      isolation: shard)
  }
}

extension [StoreKind] {
  /// The kind with a name.
  func named(_ name: String) -> StoreKind? { last { ByteString($0.name) == ByteString(name) } }
}
