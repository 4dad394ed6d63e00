// SPDX-License-Identifier: Apache-2.0

// The comparison of two arrays.

extension JSONDifference {
  /// Compares two arrays. The common beginning, the common end and most elements that are the same
  /// between them are kept. The remaining elements at the same index are compared with each other.
  /// Returns false if replacing the array is shorter.
  mutating func compareArrays(
    _ before: inout JSONReader, _ after: inout JSONReader, _ scope: inout Scope,
    _ patch: inout JSONPatchWriter
  ) throws(JSONError) -> Bool {
    let oldElements = try elements(&before, isOld: true)
    let newElements = try elements(&after, isOld: false)
    scope.end = after.position
    var compared = 0
    func areSame(_ from: Int, _ to: Int) -> Bool {
      let (from, to) = (oldElements[from], newElements[to])
      if from.count == to.count { compared += from.count }
      return old.part(from).hasSameBytes(as: new.part(to))
        && oldLeaves.range(in: from).isEmpty && newLeaves.range(in: to).isEmpty
    }
    let kept = CommonElements.find(oldElements.count, newElements.count, areSame)
    work += compared / Self.bytesComparedAtOnce
    var from = 0
    var to = 0
    for next in 0...kept.count {
      let run =
        next < kept.count
        ? kept[next]
        : CommonElements.Run(old: oldElements.count, new: newElements.count, count: 0)
      // The index in the array as patched so far equals the index in the new array.
      while from < run.old || to < run.new {
        if from < run.old && to < run.new {
          var oldElement = reader(of: old, at: oldElements[from].lowerBound)
          var newElement = reader(of: new, at: newElements[to].lowerBound)
          patch.enter(index: to)
          try compare(&oldElement, to: oldElements[from].upperBound, &newElement, &patch)
          isDone = false
          patch.leave()
          from += 1
          to += 1
        } else if from < run.old {
          patch.remove(at: to)
          from += 1
        } else {
          let (text, leaves, range) = (new, newLeaves, newElements[to])
          patch.add(at: to) { leaves.write(text, range, to: &$0) }
          to += 1
        }
        if try isTooLong(&scope, after, patch) { return false }
      }
      from += run.count
      to += run.count
    }
    return true
  }

  mutating func elements(
    _ reader: inout JSONReader, isOld: Bool
  ) throws(JSONError) -> [Range<Int>] {
    var elements: [Range<Int>] = []
    elements.reserveCapacity(4)
    try reader.beginArray()
    while try reader.nextElement() { elements.append(try skip(&reader, isOld: isOld)) }
    return elements
  }
}
