// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// A state or a view as a tree, with the change that has made it from the one before.
///
/// The patch of the program is passed on to clients and to the journal: unchanged parts are neither
/// compared nor written.
struct Document: Sendable {
  private final class Storage: Sendable {
    let tree: JSONValue
    let version: UInt64
    /// The operations that lead from the document with the version before; nil if they are not known.
    let change: [JSONPatch.Operation]?
    /// The approximate length as text, exact where `measuredBytes` is the same.
    let bytes: Int
    let measuredBytes: Int

    init(
      _ tree: JSONValue, version: UInt64, change: [JSONPatch.Operation]?, bytes: Int,
      measuredBytes: Int
    ) {
      (self.tree, self.version, self.change) = (tree, version, change)
      (self.bytes, self.measuredBytes) = (bytes, measuredBytes)
    }
  }

  private let storage: Storage

  /// The value.
  var tree: JSONValue { storage.tree }

  /// Creates a document of a value.
  ///
  /// - Parameters:
  ///   - tree: The value.
  ///   - bytes: Its length as text.
  ///   - version: A number that no other document of the store has.
  init(_ tree: JSONValue, bytes: Int, version: UInt64) {
    storage = Storage(tree, version: version, change: nil, bytes: bytes, measuredBytes: bytes)
  }

  private init(_ storage: Storage) { self.storage = storage }

  /// The document before the first one.
  static let empty = Document(.null, bytes: 4, version: 0)

  /// Returns the document with operations applied; its version is the next one.
  ///
  /// - Parameters:
  ///   - patch: The operations.
  ///   - bytes: The length of the patch as text.
  /// - Throws: `JSONError` if an operation cannot be applied.
  func applying(_ patch: JSONPatch, bytes: Int) throws(JSONError) -> Document {
    var tree = storage.tree
    var change: [JSONPatch.Operation] = []
    var copied = 0
    change.reserveCapacity(patch.operations.count)
    for (index, operation) in patch.operations.enumerated() {
      do throws(JSONError) {
        // Before it is applied, and without a second reference to the tree, which would copy it.
        try operation.simplified(in: tree, to: &change)
        if case .copy(let from, _) = operation {
          copied += tree[from]?.jsonBytes().count ?? 0
          guard copied <= Self.maximumCopiedBytes else {
            throw JSONError(.limit, "the copies have more than \(Self.maximumCopiedBytes) bytes")
          }
        }
        try JSONPatch([operation]).apply(inPlace: &tree)
      } catch {
        throw JSONError(error.code, "operation \(index): \(error.message)")
      }
    }
    if change.isEmpty { return self }
    var (size, measured) = (storage.bytes + bytes, storage.measuredBytes)
    // Measured again when it may be wrong by a quarter.
    if size > measured + max(measured / 4, 4096) {
      size = tree.jsonBytes().count
      measured = size
    }
    return Document(
      Storage(
        tree, version: storage.version + 1, change: change, bytes: size, measuredBytes: measured))
  }

  /// The most bytes that the `copy` operations of one patch add.
  private static let maximumCopiedBytes = 1 << 20

  /// Returns a document of another value, whose version is the next one.
  func replaced(by tree: JSONValue, bytes: Int) -> Document {
    Document(tree, bytes: bytes, version: storage.version + 1)
  }
}

extension JSONPatch.Operation {
  /// Adds the operations that clients know and that make the same change.
  ///
  /// - Parameters:
  ///   - document: The document before the operation.
  ///   - change: The operations so far.
  fileprivate func simplified(
    in document: JSONValue, to change: inout [JSONPatch.Operation]
  ) throws(JSONError) {
    switch self {
    case .test: break
    case .replace(let path, let value):
      // A change that changes nothing is not published.
      if document[path] != value { change.append(self) }
    case .remove: change.append(self)
    case .add(let path, let value):
      if document.hasMember(path, value) { return }
      change.append(.add(path.withIndex(in: document), value))
    case .copy(let from, let path):
      guard let value = document[from] else { return }
      change.append(.add(path.withIndex(in: document), value))
    case .move(let from, let path):
      guard from != path else { return }
      if from.tokens.dropLast() == path.tokens.dropLast(),
        document[JSONPointer(Array(from.tokens.dropLast()))]?.array != nil,
        path.tokens.last != "-"
      {
        return change.append(self)
      }
      guard let value = document[from] else { return }
      change.append(.remove(from))
      let rest = try JSONPatch([.remove(from)]).apply(to: document)
      change.append(.add(path.withIndex(in: rest), value))
    }
  }
}

extension JSONValue {
  /// Returns true if a path leads to a member of an object, with this value.
  fileprivate func hasMember(_ path: JSONPointer, _ value: JSONValue) -> Bool {
    guard self[path] == value else { return false }
    return path.tokens.isEmpty || self[JSONPointer(Array(path.tokens.dropLast()))]?.object != nil
  }
}

extension JSONPointer {
  /// The same path with an index in place of a `-` at the end.
  fileprivate func withIndex(in document: JSONValue) -> JSONPointer {
    guard tokens.last == "-" else { return self }
    let parent = Array(tokens.dropLast())
    guard let count = document[JSONPointer(parent)]?.array?.count else { return self }
    return JSONPointer(parent + [String(count)])
  }
}

// MARK: - Differences

extension Document: JSONDifferencing {
  mutating func advance(
    to new: any JSONDifferencing, writing patch: inout JSONPatchWriter
  ) -> Bool {
    guard let new = new as? Document else { return false }
    return advance(to: new, writing: &patch)
  }

  mutating func advance(to new: Document, writing patch: inout JSONPatchWriter) -> Bool {
    defer { self = new }
    if new.storage === storage || new.storage.version == storage.version { return true }
    let change: [JSONPatch.Operation]
    if let known = new.storage.change, new.storage.version == storage.version + 1 {
      change = known
    } else {
      change = JSONPatch.difference(from: tree, to: new.tree).operations
    }
    for operation in change { patch.write(operation) }
    return true
  }

  var version: UInt64? { storage.version }
  var expectedBytes: Int { storage.bytes }
  var textBytes: Int { storage.bytes }

  func write(to writer: inout JSONWriter) { writer.value(storage.tree) }
}

extension Document: IncrementallyDiffable {
  var layout: UInt8 { 1 }

  func advancePart(
    _ held: inout any JSONDifferencing, writing patch: inout JSONPatchWriter
  ) -> Bool {
    held.advance(to: self, writing: &patch)
  }
}

extension Document: JSONReadable {
  init(reading reader: inout JSONReader) throws(JSONError) {
    let start = reader.nextValueOffset()
    let tree = try reader.readValue()
    self.init(tree, bytes: reader.position - start, version: 1)
  }
}

extension Document: Codable {
  init(from decoder: any Decoder) throws {
    let tree = try JSONValue(from: decoder)
    self.init(tree, bytes: tree.jsonBytes().count, version: 1)
  }

  func encode(to encoder: any Encoder) throws { try tree.encode(to: encoder) }
}
