// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@testable import VersionedList

/// A subscriber of a state: the encoded state of the server and the document that results from the
/// patches.
///
/// Each step checks that the patch leads from the old document to the new one, and that it is empty
/// only if they are equal.
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

  /// Advances to a new value and checks the patch.
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
