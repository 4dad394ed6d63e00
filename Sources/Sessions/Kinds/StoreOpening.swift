// SPDX-License-Identifier: Apache-2.0

public import StateMachines
public import StatewireJSON

/// A request to open a store, with the parts of its work that can be done on any thread.
public struct StoreOpening: Sendable {
  let store: String
  let kind: String
  /// The configuration as JSON text, which needs less memory than the tree.
  let configuration: [UInt8]
  private let maker: StoreKind?
  /// The configuration as decoded by the kind.
  private var value: Result<any Sendable, JSONError>
  /// The result of `prepare`, retained so that the store can find it; nil before.
  private(set) var prepared: Result<any Sendable, JSONError>?

  /// Creates a request and decodes its configuration.
  ///
  /// - Parameters:
  ///   - store: The name of the store.
  ///   - kind: The name of the kind.
  ///   - configuration: The configuration.
  ///   - kinds: The available kinds.
  public init(_ store: String, kind: String, configuration: JSONValue, of kinds: [StoreKind]) {
    self.store = store
    self.kind = kind
    self.configuration = configuration.jsonBytes()
    let maker = kinds.named(kind)
    self.maker = maker
    value = Result { () throws(JSONError) in try maker?.read(configuration) ?? configuration }
  }

  /// Returns true if `prepare` has work to do, and the limits of the kind admit the store in a session.
  func takesLong(in session: Session) -> Bool {
    guard preparation(.server, SystemClock()) != nil, let maker, let value = try? value.get() else {
      return false
    }
    return (try? maker.admit(value, session)) != nil
  }

  private func preparation(
    _ viewer: Viewer, _ clock: any StoreClock
  ) -> StoreKind.Preparation? {
    guard let maker, let value = try? value.get() else { return nil }
    return maker.preparation(value, store, viewer, clock)
  }

  /// Creates the value that takes long to create, so that opening the store is fast.
  ///
  /// - Parameters:
  ///   - viewer: The participant that opens the store.
  ///   - clock: The clock of the session.
  public mutating func prepare(for viewer: Viewer, at clock: any StoreClock) async {
    prepared = await preparation(viewer, clock)?()
  }

  /// True if the store cannot be opened before `prepare` has ended.
  public var isUnprepared: Bool { maker?.requiresPreparation == true && prepared == nil }

  /// Returns the kind.
  ///
  /// - Throws: `SessionError.unknownKind`.
  func knownKind() throws(SessionError) -> StoreKind {
    guard let maker else { throw .unknownKind(kind) }
    return maker
  }

  /// Throws `SessionError.unavailable` if the store could not be prepared for that reason.
  func checkPrepared() throws(SessionError) {
    if case .failure(let error)? = prepared, error.code == .unavailable {
      throw .unavailable(error.message)
    }
  }

  func readConfiguration() throws(JSONError) -> any Sendable {
    if case .failure(let error)? = prepared { throw error }
    return try value.get()
  }
}

extension Session {
  /// Returns true if the store takes long to open, so that another thread should prepare it.
  public func mayPrepare(_ opening: StoreOpening, isolation shard: isolated Shard) -> Bool {
    if let storeEntry = storeEntries[opening.store], !storeEntry.isClosed { return false }
    if let kind = try? opening.knownKind(), let (key, _) = sharing(kind, name: opening.store),
      (try? shard.isOpen(key)) != false
    {
      return false
    }
    return opening.takesLong(in: self)
  }

  /// Opens a store of a kind under a name.
  ///
  /// - Parameters:
  ///   - name: The name, compared by its bytes.
  ///   - kind: The name of the kind.
  ///   - configuration: The configuration, an object.
  ///   - shard: The shard of the session.
  /// - Returns: The revision of the store's state.
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
  /// Returns the last kind with a name; nil if there is none.
  func named(_ name: String) -> StoreKind? { last { ByteString($0.name) == ByteString(name) } }
}
