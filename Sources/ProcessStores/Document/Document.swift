// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON
internal import Synchronization

/// A state or a view as a tree, with the change that has made it from the one before.
///
/// The patch of the program is passed on to clients and to the journal: unchanged parts are neither
/// compared nor copied nor written.
struct Document: Sendable {
  private final class Storage: Sendable {
    let value: DocumentValue
    /// A number that no document of this process with other data has.
    let version: UInt64
    /// The version of the document before, and the operations that lead from it to this one; nil if
    /// they are not known.
    let change: (base: UInt64, operations: [JSONPatch.Operation])?
    /// The length as compact text.
    let bytes: Int

    private static let last = Atomic<UInt64>(0)

    init(
      _ value: DocumentValue, change: (base: UInt64, operations: [JSONPatch.Operation])?, bytes: Int
    ) {
      (self.value, self.change, self.bytes) = (value, change, bytes)
      version = Storage.last.wrappingAdd(1, ordering: .relaxed).newValue
    }

    /// Creates a copy whose value is divided into other parts.
    init(_ former: Storage, dividedAs value: DocumentValue) {
      (self.value, version, change, bytes) = (value, former.version, former.change, former.bytes)
    }
  }

  private let storage: Storage

  /// The value.
  var value: DocumentValue { storage.value }

  /// Creates a document of a value.
  init(_ value: DocumentValue) {
    storage = Storage(value, change: nil, bytes: value.textBytes)
  }

  private init(_ storage: Storage) { self.storage = storage }

  /// The document before the first one.
  static let empty = Document(DocumentValue(.null))

  /// Returns the document with operations applied.
  ///
  /// - Throws: `JSONError` if an operation cannot be applied.
  func applying(_ patch: JSONPatch) throws(JSONError) -> Document {
    var patching = DocumentPatching(storage.value, bytes: storage.bytes)
    for index in patch.operations.indices {
      do throws(JSONError) {
        try patching.apply(patch.operations[index])
      } catch {
        throw JSONError(error.code, "operation \(index): \(error.message)")
      }
    }
    // The parts into which the value has been divided are kept for the next patch.
    if patching.mayCancel, patching.bytes == storage.bytes, patching.value.isSame(as: storage.value)
    {
      return Document(Storage(storage, dividedAs: patching.value))
    }
    return Document(
      Storage(
        patching.value, change: patching.change.map { (storage.version, $0) },
        bytes: patching.bytes))
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
    if new.storage.version == storage.version { return true }
    let change: [JSONPatch.Operation]
    if let known = new.storage.change, known.base == storage.version {
      change = known.operations
    } else {
      change = JSONPatch.difference(from: value, to: new.value).operations
    }
    for operation in change { patch.write(operation) }
    return true
  }

  var version: UInt64? { storage.version }
  var isPersistent: Bool { true }

  func isSame(as other: any JSONDifferencing) -> Bool {
    guard let other = other as? Document else { return false }
    return version == other.version || value.isSame(as: other.value)
  }

  var expectedBytes: Int { storage.bytes }
  var textBytes: Int { storage.bytes }

  func write(to writer: inout JSONWriter) { value.write(to: &writer) }
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
    self.init(try reader.read())
  }
}

extension Document: Codable {
  init(from decoder: any Decoder) throws {
    self.init(DocumentValue(try JSONValue(from: decoder)))
  }

  func encode(to encoder: any Encoder) throws { try value.json.encode(to: encoder) }
}
