// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

/// Documents, patches and differences.
enum Patches {
  /// Checks that a patch applies exactly if its operations apply one after the other, with the same
  /// result, and that it does not change when it is written and read again. A patch that is read from
  /// text is the same as one of a tree.
  static func apply(_ bytes: [UInt8]) {
    let (before, operations) = halves(bytes)
    guard let document = value(before), let tree = value(operations) else { return }
    let known = try? JSONPatch(tree)
    expect(read(operations) == known, "a patch of a text differs from one of a tree")
    guard let patch = known else { return }
    expect(
      (try? JSONPatch(patch.value)) == patch, "a patch changes when it is written and read again")
    let limits = JSONLimits(maximumDepth: 128, maximumCopiedValues: 10_000)
    let whole = try? patch.apply(to: document, limits: limits)
    // The copies of a whole patch have one common limit, so the reverse does not hold.
    guard let whole else { return }
    var stepwise = document
    for operation in patch.operations {
      guard let next = try? JSONPatch([operation]).apply(to: stepwise, limits: limits) else {
        return expect(false, "an operation of a patch does not apply alone")
      }
      stepwise = next
    }
    expect(whole == stepwise, "a patch and its operations lead to different documents")
    expect(value(whole.bytes) == whole, "the result of a patch cannot be written")
  }

  private static func read(_ text: [UInt8]) -> JSONPatch? {
    text.withUnsafeBytes { text in
      var reader = JSONReader(text)
      return try? reader.read(JSONPatch.self)
    }
  }

  /// Checks that the difference of two documents leads from one to the other, and is empty exactly
  /// if they are equal.
  static func compare(_ bytes: [UInt8]) {
    let (one, other) = halves(bytes)
    guard let old = value(one), let new = value(other) else { return }
    checkDifference(old, new)
    checkDifference(new, old)
    expect(JSONPatch.difference(from: old, to: old).isEmpty, "a document differs from itself")
  }

  /// Checks the same for two successive states that the bytes describe.
  static func compareStates(_ bytes: [UInt8]) {
    var states = States(bytes)
    let (old, new) = states.pair()
    checkDifference(old, new)
    checkDifference(new, old)
  }

  private static func checkDifference(_ old: JSONValue, _ new: JSONValue) {
    checkCost(old, new)
    let patch = JSONPatch.difference(from: old, to: new)
    expect(
      patch.isEmpty == (old == new),
      "a difference is empty although the values differ, or the reverse")
    let limits = JSONLimits(maximumDepth: .max)
    expect(
      (try? patch.apply(to: old, limits: limits)) == new,
      "a difference does not lead to the new value: \(patch.value)")
    // A replacement of the whole document has at most 40 bytes apart from its value.
    expect(
      patch.value.bytes.count <= 2 * new.bytes.count + 40, "a difference is longer than two values")
  }

  /// Checks that finding a difference costs at most ten times as much as writing the states.
  ///
  /// The cost is a number of bytes, not a time, so that an input always gives the same result. It
  /// counts bytes that are written, including reverted ones, and bytes that are skipped.
  private static func checkCost(_ old: JSONValue, _ new: JSONValue) {
    var before = JSONEncodedState(writing: old)
    let after = JSONEncodedState(writing: new)
    // For short states, operations are longer than the states.
    let most = 10 * (before.textBytes + after.textBytes + 256)
    var patch = JSONPatchWriter()
    JSONWork.bytes = 0
    before.advance(to: after, writing: &patch)
    expect(JSONWork.bytes <= most, "a difference takes \(JSONWork.bytes) bytes of \(most)")
  }
}
