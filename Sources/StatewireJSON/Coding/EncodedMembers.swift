// SPDX-License-Identifier: Apache-2.0

/// The members of the last value of a series of encoded values, so that the next value costs only the
/// members that have changed.
///
/// Members that have leaves (`JSONDifferencing`) are not kept, because a list is changed in place only
/// if nothing else refers to it.
final class EncodedMembers {
  private struct Member {
    /// The key and its path as `JSONPatchWriter.enter(pointer:)` takes it.
    let name: String
    let pointer: [UInt8]
    var value: KeptValue?
    /// The length of the key with quotation marks and colon, in bytes.
    let keyLength: Int
    /// The range of the value in the previous text and in the present one.
    var before = 0..<0
    var now = 0..<0
    var isSame = false
    /// False if values of the member cannot be kept.
    var canBeKept = true

    /// Writes the member if it is the same as in the previous value, whose text is `text`.
    mutating func writeIfSame<T>(
      _ value: T, from text: UnsafeRawBufferPointer, to writer: inout JSONWriter
    ) -> Bool {
      before = now
      isSame = self.value?.isSame(as: value) ?? false
      guard isSame else { return false }
      writer.separate()
      now = writer.count + keyLength..<writer.count + keyLength + before.count
      writer.append(text.part(before.lowerBound - keyLength..<before.upperBound))
      writer.needsComma = true
      return true
    }
  }

  /// A value with a shorter text is written again, which costs as much as comparing it.
  private static let shortest = 32

  private var members: [Member] = []
  /// The index of the member that is written next.
  private var next = 0
  /// True if the members written so far are those of the previous value.
  private var isComparable = false
  /// The previous text, while a value is written.
  private var text = UnsafeRawBufferPointer(start: nil, count: 0)

  /// Begins the next value.
  ///
  /// - Parameter text: The text of the previous value, which is valid until `end`.
  func begin(after text: UnsafeRawBufferPointer) {
    if let last = members.last, last.now.upperBound > text.count { members.removeAll() }
    self.text = text
    next = 0
    isComparable = !members.isEmpty
  }

  /// Ends a value.
  func end() {
    text = UnsafeRawBufferPointer(start: nil, count: 0)
    // Members that this value does not have.
    if next < members.count { members.removeSubrange(next...) }
  }

  /// Removes all members, because the present value has not been written by `writeKept` and `keep`.
  func forget() {
    members.removeAll()
    next = 0
    isComparable = false
  }
}

// MARK: - Writing

extension EncodedMembers {
  /// Writes the next member if it is the same as in the previous value.
  ///
  /// - Returns: False if the caller must write the member, and then call `keep`.
  func writeKept<T>(_ value: T, _ name: String, to writer: inout JSONWriter) -> Bool {
    guard next < members.count, members[next].name.hasSameBytes(as: name) else {
      replaceNext(by: name)
      return false
    }
    guard members[next].writeIfSame(value, from: text, to: &writer) else { return false }
    next += 1
    return true
  }

  /// Keeps the member that the caller has written.
  func keep<T>(_ value: T, _ range: Range<Int>, hasLeaves: Bool) {
    members[next].now = range
    members[next].isSame = false
    if hasLeaves || range.count < Self.shortest {
      members[next].value = nil
    } else if let kept = members[next].value, kept.isOf(T.self) {
      kept.replace(by: value)
    } else if members[next].canBeKept {
      members[next].value = KeptValue(value)
      members[next].canBeKept = members[next].value != nil
    }
    next += 1
  }

  private func replaceNext(by name: String) {
    isComparable = false
    var key = JSONWriter()
    key.key(name)
    let member = Member(
      name: name, pointer: JSONPatchWriter.pointer([.key(name)]), keyLength: key.count)
    if next < members.count { members[next] = member } else { members.append(member) }
  }
}

// MARK: - The difference

extension EncodedMembers {
  /// Writes the difference of the members that have changed, if nothing else has.
  ///
  /// - Parameters:
  ///   - old: The previous text; it has no leaves.
  ///   - new: The present text; it has no leaves.
  /// - Returns: False if the texts differ outside the members, or if the operations would be longer
  ///   than the new text; nothing is written then.
  func writeDifference(
    from old: UnsafeRawBufferPointer, to new: UnsafeRawBufferPointer,
    _ patch: inout JSONPatchWriter
  ) -> Bool {
    guard isComparable, next == members.count, hasSameRest(old, new) else { return false }
    let start = patch.mark
    for member in members where !member.isSame {
      var difference = JSONDifference(
        from: old.part(member.before), to: new.part(member.now), [])
      patch.enter(pointer: member.pointer)
      difference.write(to: &patch)
      patch.leave()
    }
    if patch.bytes(since: start) <= new.count { return true }
    patch.truncate(to: start)
    return false
  }

  /// Returns true if both texts are the same outside the members.
  private func hasSameRest(_ old: UnsafeRawBufferPointer, _ new: UnsafeRawBufferPointer) -> Bool {
    var (before, now) = (0, 0)
    for member in members {
      guard
        old.part(before..<member.before.lowerBound)
          .hasSameBytes(as: new.part(now..<member.now.lowerBound))
      else { return false }
      (before, now) = (member.before.upperBound, member.now.upperBound)
    }
    return old.part(before..<old.count).hasSameBytes(as: new.part(now..<new.count))
  }
}
