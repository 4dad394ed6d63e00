// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@testable import VersionedList

/// What one reader of a state holds, and the document that it makes of the patches it gets.
///
/// Every step checks what must always hold: the patch leads from the old document to the new one,
/// and there is none exactly if they are the same.
struct Follower {
  private(set) var held: JSONEncodedState
  private(set) var document: JSONValue
  /// The operations of the last step.
  private(set) var operations: [JSONPatch.Operation] = []
  private(set) var text = "[]"

  init(_ value: some Encodable) throws {
    held = try JSONEncodedState(value)
    document = try JSON.value(value)
  }

  /// Brings the reader forward.
  mutating func follow(
    _ value: some Encodable, _ comment: Comment = "", at location: SourceLocation = #_sourceLocation
  ) throws {
    var writer = JSONPatchWriter()
    held.advance(to: try JSONEncodedState(value), writing: &writer)
    text = String(decoding: writer.bytes(), as: UTF8.self)
    let patch = try JSONPatch(JSONValue(parsing: text))
    operations = patch.operations
    let before = document
    document = try patch.apply(to: before)
    let expected = try JSON.value(value)
    #expect(document == expected, comment, sourceLocation: location)
    #expect(patch.isEmpty == (before == expected), comment, sourceLocation: location)
    var writtenOut = JSONWriter()
    held.write(to: &writtenOut)
    #expect(
      try JSONValue(parsing: writtenOut.bytes()) == expected, comment, sourceLocation: location)
  }
}
