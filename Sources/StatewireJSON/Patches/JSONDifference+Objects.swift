// SPDX-License-Identifier: Apache-2.0

// The comparison of two objects.

extension JSONDifference {
  /// Compares two objects member by member. Returns false if the new object should replace the old
  /// one, because they are different cases of an enum or replacing is shorter.
  mutating func compareObjects(
    _ before: inout JSONReader, _ after: inout JSONReader, _ scope: inout Scope,
    _ patch: inout JSONPatchWriter
  ) throws(JSONError) -> Bool {
    try before.beginObject()
    try after.beginObject()
    while true {
      if isRestSame(before, after) {
        isDone = true
        return true
      }
      let (beforeKey, afterKey) = (before, after)
      let key = try before.nextKey()
      // The bytes are usually the same on both sides.
      if !after.readSame(as: beforeKey, to: before), try !Self.areSame(key, after.nextKey()) {
        // Keys were added, removed or reordered.
        (before, after) = (beforeKey, afterKey)
        return try compareByKey(&before, &after, &scope, &patch)
      }
      guard let key else {
        scope.end = after.position
        return true
      }
      var beyond = before
      let oldRange = try skip(&beyond, isOld: true)
      guard try compareMembers(key, oldRange, &before, &after, &patch) else { return false }
      if isDone { return true }
      if try isTooLong(&scope, after, patch) { return false }
    }
  }

  private static func areSame(_ one: JSONKey?, _ other: JSONKey?) -> Bool {
    switch (one, other) {
    case (let one?, let other?): one.isSame(as: other)
    case (nil, nil): true
    default: false
    }
  }

  /// Compares the values of a key that both objects have. Returns false if the objects are
  /// therefore different cases of an enum.
  ///
  /// - Parameter oldRange: The range of the old value.
  mutating func compareMembers(
    _ key: JSONKey, _ oldRange: Range<Int>, _ before: inout JSONReader,
    _ after: inout JSONReader, _ patch: inout JSONPatchWriter
  ) throws(JSONError) -> Bool {
    if skipIfSame(&before, oldRange, &after) { return true }
    // The tag that distinguishes two cases is compared before any operation is written for it.
    if key == "type", try before.peek() == .string, try after.peek() == .string {
      before.skip(to: oldRange.upperBound)
      return try areSame(oldRange, after.skipValue())
    }
    let mark = patch.mark
    patch.enter(key)
    try compare(&before, to: oldRange.upperBound, &after, &patch)
    patch.leave()
    return !(key == "type") || patch.count == mark.count
  }

  /// Compares the remaining members of two objects, regardless of their order.
  mutating func compareByKey(
    _ before: inout JSONReader, _ after: inout JSONReader, _ scope: inout Scope,
    _ patch: inout JSONPatchWriter
  ) throws(JSONError) -> Bool {
    let oldMembers = try MemberTable(&before) { reader throws(JSONError) in
      try skip(&reader, isOld: true)
    }
    let newMembers = try MemberTable(&after) { reader throws(JSONError) in
      try skip(&reader, isOld: false)
    }
    scope.end = after.position
    if let tag = oldMembers.member("type"), let newTag = newMembers.member("type"),
      !(try areSame(tag.range, newTag.range))
    {
      return false
    }
    for member in oldMembers.effective where newMembers.member(member.key) == nil {
      patch.enter(member.key)
      patch.remove()
      patch.leave()
      if try isTooLong(&scope, after, patch) { return false }
    }
    for member in newMembers.effective {
      var value = reader(of: new, at: member.range.lowerBound)
      if let counterpart = oldMembers.member(member.key) {
        var oldValue = reader(of: old, at: counterpart.range.lowerBound)
        _ = try compareMembers(member.key, counterpart.range, &oldValue, &value, &patch)
        isDone = false
      } else {
        patch.enter(member.key)
        let (text, leaves, range) = (new, newLeaves, member.range)
        patch.add { leaves.write(text, range, to: &$0) }
        patch.leave()
      }
      if try isTooLong(&scope, after, patch) { return false }
    }
    return true
  }
}
