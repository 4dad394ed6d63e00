// SPDX-License-Identifier: Apache-2.0

/// A value that is, in some of its cases, one large part with a few members around it.
///
/// It says so in order to be compared faster: where neither the case nor what is around the part has
/// changed, the part alone is looked at, and nothing is written out. For view states of lists; any other
/// works without.
public protocol JSONOutlined: JSONWritable {
  /// Which case it is, of those that have a part, from 1; 0 in the others.
  ///
  /// Two values with the same outline other than 0 are written as the same text but for the part.
  var outline: UInt8 { get }

  /// Brings what the other side holds of the part to this value's; see `JSONPart`.
  ///
  /// - Returns: False where there is no part, or where it cannot be brought forward.
  func bringPart(_ held: inout any JSONDifferencing, writing patch: inout JSONPatchWriter) -> Bool
}

/// What stands aside as a `JSONDifferencing` value where states are compared.
public protocol JSONPart: JSONWritable {
  /// What is kept of it, in order to be compared with what it is later.
  var held: any JSONDifferencing { get }

  /// Brings what the other side holds to this value, as `JSONDifferencing.advance` does.
  ///
  /// - Parameters:
  ///   - held: What was kept of a value of this type at some time before.
  ///   - patch: Where the operations are written.
  func bring(_ held: inout any JSONDifferencing, writing patch: inout JSONPatchWriter) -> Bool
}

extension JSONPart {
  public func place(in writer: inout JSONWriter) {
    guard writer.setsPartsAside else { return write(to: &writer) }
    writer.putAside(held)
  }
}
