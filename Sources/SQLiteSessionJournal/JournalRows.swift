// SPDX-License-Identifier: Apache-2.0

internal import Sessions

/// A row of `session`.
struct SessionRow {
  var handle: SessionHandle
  var owner: String?
  var deadline: Duration?
  /// The ids of its stores in the order of their first opening, so that a missing store is noticed.
  var stores: [Int64] = []
  /// As in `JournalContents.Session`.
  var continuesAlone = true
  /// As in `JournalContents.Session`.
  var usedBytes = 0
  /// The number of its stores. A row that an earlier version of this program wrote lacks their ids.
  private(set) var storeCount = 0

  func bytes(_ id: Int64) -> [UInt8] {
    var row = RowWriter()
    row.text(handle.description.utf8)
    row.optional(owner?.utf8)
    row.number(deadline == nil ? 0 : 1)
    if let deadline { row.time(deadline) }
    row.integer(storeCount)
    // Earlier versions of this program ignore the fields from here on.
    if stores.count == storeCount {
      for store in stores { row.integer(Int(store)) }
      row.number(continuesAlone ? 1 : 0)
      row.integer(usedBytes)
    }
    return row.sealed(RowKey(.putSession, id))
  }

  init(handle: SessionHandle, owner: String?, deadline: Duration? = nil) {
    self.handle = handle
    self.owner = owner
    self.deadline = deadline
  }

  /// Sets the ids of the stores, which the row has lacked.
  mutating func setStores(_ ids: [Int64]) {
    if ids.count == storeCount { stores = ids }
  }

  mutating func add(store id: Int64) {
    stores.append(id)
    storeCount += 1
  }

  init(_ data: [UInt8], _ id: Int64) throws(RowDamage) {
    var row = try RowReader(data, RowKey(.putSession, id))
    guard let handle = SessionHandle(try row.text()) else { throw RowDamage() }
    self.handle = handle
    owner = try row.optionalText()
    if try row.number() == 1 { deadline = try row.time() }
    storeCount = try row.integer()
    guard !row.isAtEnd else { return }
    guard storeCount >= 0 else { throw RowDamage() }
    for _ in 0..<storeCount { stores.append(Int64(try row.integer())) }
    continuesAlone = try row.number() == 1
    usedBytes = try row.integer()
  }
}

/// A row of `ended`.
struct EndedRow {
  let handle: SessionHandle
  let owner: String?

  init(handle: SessionHandle, owner: String?) {
    self.handle = handle
    self.owner = owner
  }

  func bytes(_ id: Int64) -> [UInt8] {
    var row = RowWriter()
    row.text(handle.description.utf8)
    row.optional(owner?.utf8)
    return row.sealed(RowKey(.putEnded, id))
  }

  init(_ data: [UInt8], _ id: Int64) throws(RowDamage) {
    var row = try RowReader(data, RowKey(.putEnded, id))
    guard let handle = SessionHandle(try row.text()) else { throw RowDamage() }
    self.handle = handle
    owner = try row.optionalText()
  }
}

/// A row of `sequence`.
enum SequenceRow {
  static func bytes(_ last: Int, _ frontend: [UInt8], _ session: Int64) -> [UInt8] {
    var row = RowWriter()
    row.integer(last)
    return row.sealed(RowKey(.putSequence, session) + frontend)
  }

  static func last(
    _ data: [UInt8], _ frontend: [UInt8], _ session: Int64
  ) throws(RowDamage) -> Int {
    var row = try RowReader(data, RowKey(.putSequence, session) + frontend)
    return try row.integer()
  }
}

/// A row of `store`.
struct StoreRow {
  let session: Int64
  /// Increases from one store name of a session to the next.
  let order: Int
  let name: String
  let kind: String
  let configuration: [UInt8]

  func bytes(_ id: Int64) -> [UInt8] {
    var row = RowWriter()
    row.integer(Int(session))
    row.integer(order)
    row.text(name.utf8)
    row.text(kind.utf8)
    row.text(configuration)
    return row.sealed(RowKey(.putStore, id))
  }

  init(session: Int64, order: Int, name: String, kind: String, configuration: [UInt8]) {
    self.session = session
    self.order = order
    self.name = name
    self.kind = kind
    self.configuration = configuration
  }

  init(_ data: [UInt8], _ id: Int64) throws(RowDamage) {
    var row = try RowReader(data, RowKey(.putStore, id))
    session = Int64(try row.integer())
    order = try row.integer()
    name = try row.text()
    kind = try row.text()
    configuration = try row.bytes()
  }
}

/// A row of `mark`: the progress of a store when the row was written. Rows of `step` continue from
/// there.
struct StoreMark {
  let order: Int
  var isClosed = false
  /// The revision at the last opening.
  var opened: Revision = 0
  var revision: Revision = 0
  /// The number of steps since the store was first opened.
  var number: Int64 = 0
  /// The number of the last step that the row of `state` contains.
  var snapshot: Int64 = 0
  var hasState = false
  var redacted: Revision = 0
  /// Updates that lead to this revision or to an earlier one are not needed.
  var trimmed: Revision = 0
  /// The highest operation number that was ever used.
  var operation: UInt64 = 0
  /// The version of the machine.
  var version = 1
  var renewal = StoreRenewal.opened

  init(order: Int) { self.order = order }

  func bytes(_ id: Int64) -> [UInt8] {
    var row = RowWriter()
    row.integer(order)
    row.number(isClosed ? 1 : 0)
    row.number(hasState ? 1 : 0)
    for revision in [opened, revision, redacted, trimmed] { row.integer(revision) }
    for step in [number, snapshot] { row.integer(Int(step)) }
    row.number(operation)
    // Rows that an earlier version of this program wrote end here.
    row.integer(version)
    row.renewal(renewal)
    return row.sealed(RowKey(.putMark, id))
  }

  init(_ data: [UInt8], _ id: Int64) throws(RowDamage) {
    var row = try RowReader(data, RowKey(.putMark, id))
    order = try row.integer()
    isClosed = try row.number() == 1
    hasState = try row.number() == 1
    opened = try row.integer()
    revision = try row.integer()
    redacted = try row.integer()
    trimmed = try row.integer()
    number = Int64(try row.integer())
    snapshot = Int64(try row.integer())
    operation = try row.number()
    guard !row.isAtEnd else { return }
    version = try row.integer()
    renewal = try row.renewal()
  }
}

/// A row of `state`.
enum StateRow {
  static func bytes(_ state: [UInt8], _ id: Int64) -> [UInt8] {
    var row = RowWriter()
    row.text(state)
    return row.sealed(RowKey(.putState, id))
  }

  static func state(_ data: [UInt8], _ id: Int64) throws(RowDamage) -> [UInt8] {
    var row = try RowReader(data, RowKey(.putState, id))
    return try row.bytes()
  }
}

/// A row of `accepted`.
struct AcceptedRow {
  let operation: UInt64
  let epoch: UInt64
  /// Increases from one input of a store to the next.
  let order: Int
  let input: [UInt8]?
  let at: Duration
  var numbered: (frontend: String, sequence: Int)?

  func bytes(_ store: Int64) -> [UInt8] {
    var row = RowWriter()
    row.integer(order)
    row.number(epoch)
    row.time(at)
    row.optional(input)
    row.optional(numbered?.frontend.utf8)
    if let numbered { row.integer(numbered.sequence) }
    return row.sealed(RowKey(.putAccepted, store, Int64(bitPattern: operation)))
  }

  init(operation: UInt64, epoch: UInt64, order: Int, input: [UInt8]?, at: Duration) {
    self.operation = operation
    self.epoch = epoch
    self.order = order
    self.input = input
    self.at = at
  }

  init(_ data: [UInt8], _ store: Int64, _ operation: Int64) throws(RowDamage) {
    var row = try RowReader(data, RowKey(.putAccepted, store, operation))
    self.operation = UInt64(bitPattern: operation)
    order = try row.integer()
    epoch = try row.number()
    at = try row.time()
    input = try row.optionalBytes()
    if let frontend = try row.optionalText() { numbered = (frontend, try row.integer()) }
  }
}
