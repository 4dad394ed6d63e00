// SPDX-License-Identifier: Apache-2.0

internal import Sessions

/// A row of `step`: the changes that a turn made to a store, or as many of them as fit into a page.
struct StepRow {
  /// The number of the 63 bits of a row id that count steps. They suffice for more than a year at
  /// 15,000 inputs per second.
  static let numberBits: Int64 = 39
  /// The highest store id that fits into the remaining bits; the default limits allow fewer stores.
  static let maximumStoreID: Int64 = 1 << (63 - numberBits) - 1
  /// A row with this many bytes receives no further steps, so that old steps can be removed row by
  /// row.
  ///
  /// - Units: bytes.
  static let fullAt = 3000

  /// The ids that the rows of a store can have.
  static func ids(of store: Int64) -> ClosedRange<Int64> {
    let first: Int64 = store << numberBits
    return first...(first | (1 << numberBits - 1))
  }

  /// One folded action.
  struct Step {
    var patch: [UInt8]?
    let revision: Revision
    var frame: [UInt8]?
  }

  /// Additional content of a row, so that the turn needs no other row.
  enum Note {
    case sequence(frontend: String, last: Int)
    case operation(UInt64)
  }

  var steps: [Step] = []
  var notes: [Note] = []

  /// Appends a step to the bytes of a row.
  ///
  /// If the state and the view state are the same, the update ends with the patch, which is then
  /// written once.
  static func write(_ step: Step, to row: inout RowWriter) {
    let isShared =
      if let patch = step.patch, let frame = step.frame { frame.ends(with: patch) } else { false }
    var flags: UInt64 = step.patch == nil ? 0 : 1
    if step.frame != nil { flags |= 2 }
    if isShared { flags |= 4 }
    row.number(flags)
    row.integer(step.revision)
    if let patch = step.patch {
      if isShared { row.number(UInt64(patch.count)) } else { row.text(patch) }
    }
    if let frame = step.frame { row.text(frame) }
  }

  /// Returns the bytes of a row.
  ///
  /// - Parameters:
  ///   - steps: The bytes that `write` has produced.
  ///   - id: The id of the last step.
  static func bytes(_ steps: RowWriter, count: Int, notes: [Note], _ id: Int64) -> [UInt8] {
    var row = RowWriter()
    row.number(UInt64(count))
    row.append(steps)
    for note in notes {
      switch note {
      case .sequence(let frontend, let last):
        row.number(0)
        row.text(frontend.utf8)
        row.integer(last)
      case .operation(let operation):
        row.number(1)
        row.number(operation)
      }
    }
    return row.sealed(RowKey(.putStep, id))
  }

  /// Removes the updates that lead to a revision or to an earlier one.
  ///
  /// - Returns: True if there were such updates.
  mutating func strip(upTo revision: Revision) -> Bool {
    var hadFrames = false
    for position in steps.indices
    where steps[position].frame != nil && steps[position].revision <= revision {
      steps[position].frame = nil
      hadFrames = true
    }
    return hadFrames
  }

  func bytes(_ id: Int64) -> [UInt8] {
    var writer = RowWriter()
    for step in steps { Self.write(step, to: &writer) }
    return Self.bytes(writer, count: steps.count, notes: notes, id)
  }

  init(_ data: [UInt8], _ id: Int64) throws(RowDamage) {
    var row = try RowReader(data, RowKey(.putStep, id))
    let count = try row.number()
    for _ in 0..<count {
      let flags = try row.number()
      let revision = try row.integer()
      var patch: [UInt8]?
      var shared = 0
      if flags & 4 != 0 {
        shared = Int(truncatingIfNeeded: try row.number())
      } else if flags & 1 != 0 {
        patch = try row.bytes()
      }
      let frame = flags & 2 != 0 ? try row.bytes() : nil
      if flags & 4 != 0 { patch = Array((frame ?? []).suffix(max(0, shared))) }
      steps.append(Step(patch: patch, revision: revision, frame: frame))
    }
    while !row.isAtEnd {
      switch try row.number() {
      case 0: notes.append(.sequence(frontend: try row.text(), last: try row.integer()))
      case 1: notes.append(.operation(try row.number()))
      default: throw RowDamage()
      }
    }
  }
}

extension [UInt8] {
  fileprivate func ends(with other: [UInt8]) -> Bool {
    count >= other.count && self[(count - other.count)...].elementsEqual(other)
  }
}
