// SPDX-License-Identifier: Apache-2.0

/// A part of a state that knows its own differences, such as a keyed list of 100,000.
///
/// Where a state is encoded in order to be compared, the encoder hands such a part over as it is
/// instead of writing it out, so that the cost follows the change and not the size.
public protocol JSONDifferencing: JSONWritable, Sendable {
  /// Brings `self`, which is what the other side holds, to `new`.
  ///
  /// The operations are written at the patch's current path; none, if nothing has changed.
  ///
  /// - Returns: Whether that was possible. If not, the caller writes the whole value, nothing has
  ///   been written, and `self` is as it was.
  mutating func advance(
    to new: any JSONDifferencing, writing patch: inout JSONPatchWriter
  ) -> Bool

  /// Names what it is now: two values with the same version are the same data. Nil if it has none.
  var version: UInt64? { get }

  /// About how long it is when it is written; the same for the same version.
  /// - Units: bytes.
  var expectedBytes: Int { get }

  /// How long it is where it counts as a part of the state's text; 0 where it is counted in another way.
  /// - Units: bytes.
  var textBytes: Int { get }
}

extension JSONDifferencing {
  public var version: UInt64? { nil }
  public var expectedBytes: Int { 0 }
  public var textBytes: Int { 0 }
}

/// A value that was put aside while the text around it was written.
struct JSONLeaf: Sendable {
  /// Where a `null` stands in its place.
  var offset: Int
  var value: any JSONDifferencing
}

extension JSONDifferencing {
  public func place(in writer: inout JSONWriter) {
    guard writer.setsPartsAside else { return write(to: &writer) }
    writer.putAside(self)
  }
}

extension JSONWriter {
  /// Whether parts of a state stand aside in what is written.
  package var setsPartsAside: Bool { leaves != nil }

  package mutating func putAside(_ value: any JSONDifferencing) {
    separate()
    needsComma = false
    leaves?.append(JSONLeaf(offset: count, value: value))
    null()
  }
}
