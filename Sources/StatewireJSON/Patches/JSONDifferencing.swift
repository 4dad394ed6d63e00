// SPDX-License-Identifier: Apache-2.0

/// A part of a state that computes its own differences, such as a versioned list of 100,000
/// elements.
///
/// When a state is encoded in order to be compared, the encoder keeps such a part as a *leaf*
/// instead of writing its text. The cost of an update therefore depends on the size of the change
/// and not on the size of the part.
public protocol JSONDifferencing: JSONWritable, Sendable {
  /// Updates `self` to `new` and writes the operations that make the same change. `self` is the
  /// value that the receiver of the patches has.
  ///
  /// The operations are written at the patch's current path; no operation is written if nothing has
  /// changed.
  ///
  /// - Returns: False if the change cannot be expressed. The caller then writes the whole value; no
  ///   operation has been written and `self` is unchanged.
  mutating func advance(
    to new: any JSONDifferencing, writing patch: inout JSONPatchWriter
  ) -> Bool

  /// The version of the value: two values with the same version are the same data. Nil if it has no
  /// versions.
  var version: UInt64? { get }

  /// True if a copy that is kept makes later changes no slower. Values without versions must be so.
  var isPersistent: Bool { get }

  /// Returns true if both are the same data. It is called only if `other` is persistent.
  func isSame(as other: any JSONDifferencing) -> Bool

  /// The approximate length of its JSON text; the same for the same version.
  ///
  /// - Units: bytes.
  var expectedBytes: Int { get }

  /// The length that it contributes to `JSONEncodedState.textBytes`; 0 if its memory is accounted
  /// in another way.
  ///
  /// - Units: bytes.
  var textBytes: Int { get }
}

extension JSONDifferencing {
  /// Nil: the value has no versions.
  public var version: UInt64? { nil }

  /// True if the value has no versions.
  public var isPersistent: Bool { version == nil }

  /// Returns true if the difference has no operations.
  public func isSame(as other: any JSONDifferencing) -> Bool {
    var old = other
    var patch = JSONPatchWriter()
    return old.advance(to: self, writing: &patch) && patch.isEmpty
  }

  /// 0: the length is not estimated.
  public var expectedBytes: Int { 0 }
  /// 0: the memory is accounted in another way.
  public var textBytes: Int { 0 }
}

/// A value that is kept beside the text instead of being written into it.
struct JSONLeaf: Sendable {
  /// The offset of the `null` that represents it in the text.
  var offset: Int
  var value: any JSONDifferencing
  /// The path of the `null` as a JSON Pointer, computed when first needed; nil before.
  var path: [UInt8]?
}

extension JSONDifferencing {
  /// Keeps the value as a leaf if the writer collects leaves; otherwise writes its text.
  public func place(in writer: inout JSONWriter) {
    guard writer.collectsLeaves else { return write(to: &writer) }
    writer.keepLeaf(self)
  }
}

extension JSONWriter {
  /// True if the writer collects leaves instead of writing their text.
  package var collectsLeaves: Bool { leaves != nil }

  /// Keeps a value as a leaf and writes `null` at its position.
  package mutating func keepLeaf(_ value: any JSONDifferencing) {
    separate()
    needsComma = false
    leaves?.append(JSONLeaf(offset: count, value: value))
    null()
  }
}
