// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// A state or a view as a tree, with the change that has made it from the one before.
///
/// The patch of the program is passed on to clients and to the journal: unchanged parts are neither
/// compared nor copied nor written.
struct Document: Sendable {
  private final class Storage: Sendable {
    let value: DocumentValue
    let version: UInt64
    /// The operations that lead from the document with the version before; nil if they are not known.
    let change: [JSONPatch.Operation]?
    /// The length as compact text.
    let bytes: Int

    init(
      _ value: DocumentValue, version: UInt64, change: [JSONPatch.Operation]?, bytes: Int
    ) {
      (self.value, self.version, self.change, self.bytes) = (value, version, change, bytes)
    }
  }

  private let storage: Storage

  /// The value.
  var value: DocumentValue { storage.value }

  /// Creates a document of a value.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - version: A number that no other document of the store has.
  init(_ value: DocumentValue, version: UInt64) {
    storage = Storage(value, version: version, change: nil, bytes: value.textBytes)
  }

  private init(_ storage: Storage) { self.storage = storage }

  /// The document before the first one.
  static let empty = Document(.scalar(.null), version: 0)

  /// Returns the document with operations applied; its version is the next one.
  ///
  /// - Throws: `JSONError` if an operation cannot be applied.
  func applying(_ patch: JSONPatch) throws(JSONError) -> Document {
    var patching = DocumentPatching(storage.value, bytes: storage.bytes)
    for (index, operation) in patch.operations.enumerated() {
      do throws(JSONError) {
        try patching.apply(operation)
      } catch {
        throw JSONError(error.code, "operation \(index): \(error.message)")
      }
    }
    if patching.change?.isEmpty == true { return self }
    return Document(
      Storage(
        patching.value, version: storage.version + 1, change: patching.change,
        bytes: patching.bytes))
  }

  /// Returns a document of another value, whose version is the next one.
  func replaced(by value: DocumentValue) -> Document {
    Document(value, version: storage.version + 1)
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
      change = JSONPatch.difference(from: value, to: new.value).operations
    }
    for operation in change { patch.write(operation) }
    return true
  }

  var version: UInt64? { storage.version }
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
    self.init(try reader.read(), version: 1)
  }
}

extension Document: Codable {
  init(from decoder: any Decoder) throws {
    self.init(DocumentValue(try JSONValue(from: decoder)), version: 1)
  }

  func encode(to encoder: any Encoder) throws { try value.json.encode(to: encoder) }
}
