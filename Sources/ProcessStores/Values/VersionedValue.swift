// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON
internal import Synchronization

/// A state or a view as a tree, with the change that has made it from the one before.
///
/// The patch of the program is passed on to clients and to the journal: unchanged parts are neither
/// compared nor copied nor written.
struct VersionedValue: Sendable {
  private final class Storage: Sendable {
    let value: SharedValue
    /// A number that no value of this process with other data has.
    let version: UInt64
    /// The version of the value before, and the operations that lead from it to this one; nil if
    /// they are not known.
    let change: (base: UInt64, operations: [JSONPatch.Operation])?
    /// The length as compact text.
    let bytes: Int

    private static let last = Atomic<UInt64>(0)

    init(
      _ value: SharedValue, change: (base: UInt64, operations: [JSONPatch.Operation])?, bytes: Int
    ) {
      (self.value, self.change, self.bytes) = (value, change, bytes)
      version = Storage.last.wrappingAdd(1, ordering: .relaxed).newValue
    }

    /// Creates a copy whose value is divided into other parts.
    init(_ former: Storage, dividedAs value: SharedValue) {
      (self.value, version, change, bytes) = (value, former.version, former.change, former.bytes)
    }
  }

  private let storage: Storage

  /// The value.
  var value: SharedValue { storage.value }

  /// Creates a value with a version of its own.
  init(_ value: SharedValue) {
    storage = Storage(value, change: nil, bytes: value.textBytes)
  }

  private init(_ storage: Storage) { self.storage = storage }

  /// The value before the first one.
  static let empty = VersionedValue(SharedValue(.null))

  /// Returns the value with operations applied.
  ///
  /// - Throws: `JSONError` if an operation cannot be applied.
  func applying(_ patch: JSONPatch) throws(JSONError) -> VersionedValue {
    var patching = ValuePatching(storage.value, bytes: storage.bytes)
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
      return VersionedValue(Storage(storage, dividedAs: patching.value))
    }
    return VersionedValue(
      Storage(
        patching.value, change: patching.change.map { (storage.version, $0) },
        bytes: patching.bytes))
  }
}

// MARK: - Differences

extension VersionedValue: JSONDifferencing {
  mutating func advance(
    to new: any JSONDifferencing, writing patch: inout JSONPatchWriter
  ) -> Bool {
    guard let new = new as? VersionedValue else { return false }
    return advance(to: new, writing: &patch)
  }

  mutating func advance(to new: VersionedValue, writing patch: inout JSONPatchWriter) -> Bool {
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
    guard let other = other as? VersionedValue else { return false }
    return version == other.version || value.isSame(as: other.value)
  }

  var expectedBytes: Int { storage.bytes }
  var textBytes: Int { storage.bytes }

  func write(to writer: inout JSONWriter) { value.write(to: &writer) }
}

extension VersionedValue: IncrementallyDiffable {
  var layout: UInt8 { 1 }

  func advancePart(
    _ held: inout any JSONDifferencing, writing patch: inout JSONPatchWriter
  ) -> Bool {
    held.advance(to: self, writing: &patch)
  }
}

extension VersionedValue: JSONReadable {
  init(reading reader: inout JSONReader) throws(JSONError) {
    self.init(try reader.read())
  }
}

extension VersionedValue: Codable {
  init(from decoder: any Decoder) throws {
    self.init(SharedValue(try JSONValue(from: decoder)))
  }

  func encode(to encoder: any Encoder) throws { try value.json.encode(to: encoder) }
}
