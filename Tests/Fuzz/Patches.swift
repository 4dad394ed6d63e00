// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

/// Documents, patches and differences.
enum Patches {
  /// A patch applies exactly if its operations do one after the other, with the same end; written
  /// and read again it is the same.
  static func apply(_ bytes: [UInt8]) {
    let (before, operations) = halves(bytes)
    guard let document = value(before), let tree = value(operations),
      let patch = try? JSONPatch(tree)
    else { return }
    expect((try? JSONPatch(patch.value)) == patch, "a patch is not what it writes")
    let limits = JSONLimits(maximumDepth: 128, maximumCopiedValues: 10_000)
    let whole = try? patch.apply(to: document, limits: limits)
    // The copies of a whole patch are counted together, so only this way round.
    guard let whole else { return }
    var stepwise = document
    for operation in patch.operations {
      guard let next = try? JSONPatch([operation]).apply(to: stepwise, limits: limits) else {
        return expect(false, "an operation applies among others, and not alone")
      }
      stepwise = next
    }
    expect(whole == stepwise, "a patch and its operations lead to different documents")
    expect(value(whole.bytes) == whole, "a patch leads to what cannot be written")
  }

  /// The difference of two documents leads from the one to the other, and is empty exactly if they
  /// are the same.
  static func compare(_ bytes: [UInt8]) {
    let (one, other) = halves(bytes)
    guard let old = value(one), let new = value(other) else { return }
    follow(old, new)
    follow(new, old)
    expect(JSONPatch.difference(from: old, to: old).isEmpty, "a document differs from itself")
  }

  /// The same for two states in a row that bytes describe.
  static func compareStates(_ bytes: [UInt8]) {
    var states = States(bytes)
    let (old, new) = states.pair()
    follow(old, new)
    follow(new, old)
  }

  private static func follow(_ old: JSONValue, _ new: JSONValue) {
    checkCost(old, new)
    let patch = JSONPatch.difference(from: old, to: new)
    expect(patch.isEmpty == (old == new), "a difference is empty, or should be")
    let limits = JSONLimits(maximumDepth: .max)
    expect(
      (try? patch.apply(to: old, limits: limits)) == new,
      "a difference leads elsewhere: \(patch.value)")
    // 40 bytes are those of an operation beside its value.
    expect(
      patch.value.bytes.count <= 2 * new.bytes.count + 40, "a difference is longer than two values")
  }

  /// Finding a difference takes at most ten times as long as writing the states.
  ///
  /// Bytes are counted and not time, so that an input always takes the same way: those that are
  /// written, taken back or not, and read past.
  private static func checkCost(_ old: JSONValue, _ new: JSONValue) {
    var before = JSONEncodedState(writing: old)
    let after = JSONEncodedState(writing: new)
    // Where states are short, operations are long beside them.
    let most = 10 * (before.textBytes + after.textBytes + 256)
    var patch = JSONPatchWriter()
    JSONWork.bytes = 0
    before.advance(to: after, writing: &patch)
    expect(JSONWork.bytes <= most, "a difference takes \(JSONWork.bytes) bytes of \(most)")
  }
}
