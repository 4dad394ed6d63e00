// SPDX-License-Identifier: Apache-2.0

/// An incrementally diffable value: in some of its cases it consists of one large part and a few
/// members around it.
///
/// If neither the case nor the members around the part have changed, only the part is compared and
/// no text is written. The protocol is meant for view states that contain a list; other types need
/// not conform.
public protocol IncrementallyDiffable: JSONWritable {
  /// The number of the case, from 1, if the case has a part; 0 for other cases.
  ///
  /// Two values with the same layout other than 0 have the same text except for the part.
  var layout: UInt8 { get }

  /// Updates `held`, the part that the receiver has, to the part of this value; see `JSONPart`.
  ///
  /// - Returns: False if there is no part, or if the part cannot be updated.
  func advancePart(_ held: inout any JSONDifferencing, writing patch: inout JSONPatchWriter) -> Bool
}

/// A value that is kept as a leaf of type `JSONDifferencing` when states are compared.
public protocol JSONPart: JSONWritable {
  /// A snapshot of the value, with which later values are compared.
  var held: any JSONDifferencing { get }

  /// Updates the value that the receiver has to this value, as `JSONDifferencing.advance` does.
  ///
  /// - Parameters:
  ///   - held: A snapshot of an earlier value of this type.
  ///   - patch: The writer of the operations.
  /// - Returns: False if the change cannot be expressed; no operation has been written then.
  func bring(_ held: inout any JSONDifferencing, writing patch: inout JSONPatchWriter) -> Bool
}

extension JSONPart {
  /// Keeps a snapshot as a leaf if the writer collects leaves; otherwise writes the text.
  public func place(in writer: inout JSONWriter) {
    guard writer.collectsLeaves else { return write(to: &writer) }
    writer.keepLeaf(held)
  }
}
