// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StateMachines

// The bytes of the entries of one session in one transaction: a row of the table `entry`.

/// Writes entries as bytes: numbers of variable length, and texts after their length.
struct EntryWriter {
  private(set) var bytes: [UInt8]

  /// - Parameter isFolded: True if the entries replace all rows of the session.
  init(isFolded: Bool = false) { bytes = [isFolded ? EntryReader.folded : EntryReader.form] }

  /// Appends an event.
  mutating func append(_ event: JournalEntry.Event) {
    switch event {
    case .opened(let owner):
      tag(.opened)
      optional(owner?.utf8)
    case .ended:
      tag(.ended)
    case .expires(let time):
      tag(.expires)
      number(time == nil ? 0 : 1)
      if let time { self.time(time) }
    case .alone(let continues, let bytes):
      tag(.alone)
      number(continues ? 1 : 0)
      integer(bytes)
    case .sequence(let frontend, let last, let store):
      tag(.sequence)
      text(frontend.utf8)
      integer(last)
      optional(store?.utf8)
    case .keptAside, .keptRemoved:
      // These have a table of their own.
      break
    case .store(let name, let event):
      append(event, of: name)
    }
  }

  private mutating func append(_ event: JournalEntry.StoreEvent, of name: String) {
    func begin(_ kind: EntryTag) {
      tag(kind)
      text(name.utf8)
    }
    switch event {
    case .opened(let kind, let configuration, let revision, let version, let renewal):
      begin(.storeOpened)
      text(kind.utf8)
      text(configuration)
      integer(revision)
      integer(version)
      self.renewal(renewal)
    case .renewed(let revision, let version, let renewal):
      begin(.renewed)
      integer(revision)
      integer(version)
      self.renewal(renewal)
    case .closed:
      begin(.closed)
    case .state(let state, let revision):
      begin(.state)
      integer(revision)
      optional(state?.text)
    case .step(let patch, let revision, let frame):
      begin(.step)
      step(patch, revision, frame)
    case .redacted(let revision):
      begin(.redacted)
      integer(revision)
    case .trimmed(let revision):
      begin(.trimmed)
      integer(revision)
    case .accepted(let operation, let epoch, let input, let at):
      begin(.accepted)
      number(operation)
      number(epoch)
      optional(input)
      time(at)
    case .numbered(let operation, let frontend, let sequence):
      begin(.numbered)
      number(operation)
      text(frontend.utf8)
      integer(sequence)
    case .settled(let operation):
      begin(.settled)
      number(operation)
    }
  }

  /// An update that ends with the patch of the folded state, as most do, is written without a second
  /// copy of it.
  private mutating func step(_ patch: [UInt8]?, _ revision: Revision, _ frame: [UInt8]?) {
    var isShared = false
    if let patch, let frame, frame.count >= patch.count {
      isShared = frame[(frame.count - patch.count)...].elementsEqual(patch)
    }
    number((patch == nil ? 0 : 1) | (frame == nil ? 0 : 2) | (isShared ? 4 : 0))
    integer(revision)
    if let patch { if isShared { number(UInt64(patch.count)) } else { text(patch) } }
    if let frame { text(frame) }
  }

  /// Appends a state that is kept aside.
  mutating func append(_ kept: KeptState) {
    optional(kept.owner?.utf8)
    text(kept.store.utf8)
    text(kept.kind.utf8)
    text(kept.configuration)
    integer(kept.version)
    integer(kept.revision)
    text(kept.state)
    text(kept.reason.utf8)
    time(kept.time)
  }

  private mutating func tag(_ tag: EntryTag) { bytes.append(tag.rawValue) }

  private mutating func number(_ number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// Zigzag encoding, which is short for small numbers of either sign.
  private mutating func integer(_ integer: Int) {
    let sign = integer >> (Int.bitWidth - 1)
    number(UInt64(bitPattern: Int64(integer << 1 ^ sign)))
  }

  private mutating func text(_ text: some Collection<UInt8>) {
    number(UInt64(text.count))
    bytes.append(contentsOf: text)
  }

  private mutating func optional(_ text: (some Collection<UInt8>)?) {
    number(text == nil ? 0 : 1)
    if let text { self.text(text) }
  }

  private mutating func time(_ time: Duration) {
    integer(Int(time.components.seconds))
    integer(Int(time.components.attoseconds / 1_000_000_000))
  }

  private mutating func renewal(_ renewal: StoreRenewal) {
    switch renewal {
    case .opened: number(0)
    case .migrated: number(1)
    case .restored: number(2)
    case .unreadable(let revision, let reason):
      number(3)
      integer(revision)
      text(reason.utf8)
    }
  }
}

/// The first byte of an entry. Numbers are never used for something else.
enum EntryTag: UInt8 {
  case opened = 1
  case ended, expires, alone, sequence
  case storeOpened, renewed, closed, state, step, redacted, trimmed, accepted, numbered, settled
}

/// A row that cannot be read: it is damaged, or a newer version of the program has written it.
struct EntryDamage: Error {}

/// Reads the bytes that `EntryWriter` has written.
struct EntryReader {
  /// The form of the bytes, which each row begins with.
  static let form: UInt8 = 1
  /// The form of a row that was folded from others.
  static let folded: UInt8 = 2

  private let bytes: [UInt8]
  private var position = 1

  init(_ bytes: [UInt8]) throws(EntryDamage) {
    guard bytes.first == Self.form || bytes.first == Self.folded else { throw EntryDamage() }
    self.bytes = bytes
  }

  /// True if the row was folded from others.
  var isFolded: Bool { bytes[0] == Self.folded }

  /// Returns the next event; nil at the end.
  mutating func next() throws(EntryDamage) -> JournalEntry.Event? {
    guard position < bytes.count else { return nil }
    guard let tag = EntryTag(rawValue: bytes[position]) else { throw EntryDamage() }
    position += 1
    switch tag {
    case .opened: return .opened(owner: try optionalText())
    case .ended: return .ended
    case .expires: return .expires(at: try number() == 0 ? nil : try time())
    case .alone: return .alone(continues: try number() == 1, bytes: try count())
    case .sequence:
      return .sequence(
        frontend: try text(), last: try integer(), store: try optionalText())
    default: return .store(try text(), try storeEvent(tag))
    }
  }

  private mutating func storeEvent(_ tag: EntryTag) throws(EntryDamage) -> JournalEntry.StoreEvent {
    switch tag {
    case .opened, .ended, .expires, .alone, .sequence: throw EntryDamage()
    case .storeOpened:
      return .opened(
        kind: try text(), configuration: try data(), revision: try count(),
        version: try integer(), renewal: try renewal())
    case .renewed:
      return .renewed(revision: try count(), version: try integer(), renewal: try renewal())
    case .closed: return .closed
    case .state:
      let revision = try count()
      return .state(try optionalData().map(JournalState.text), revision: revision)
    case .step: return try step()
    case .redacted: return .redacted(try count())
    case .trimmed: return .trimmed(try count())
    case .accepted:
      return .accepted(
        operation: try operation(), epoch: try number(), input: try optionalData(), at: try time())
    case .numbered:
      return .numbered(operation: try operation(), frontend: try text(), sequence: try integer())
    case .settled: return .settled(operation: try operation())
    }
  }

  private mutating func step() throws(EntryDamage) -> JournalEntry.StoreEvent {
    let flags = try number()
    let revision = try count()
    var patch: [UInt8]?
    var shared = 0
    if flags & 4 != 0 {
      shared = Int(truncatingIfNeeded: try number())
    } else if flags & 1 != 0 {
      patch = try data()
    }
    let frame = flags & 2 != 0 ? try data() : nil
    if flags & 4 != 0 { patch = Array((frame ?? []).suffix(max(0, shared))) }
    return .step(patch: patch, revision: revision, frame: frame)
  }

  /// Reads a state that is kept aside.
  mutating func kept(_ session: SessionHandle) throws(EntryDamage) -> KeptState {
    let owner = try optionalText()
    return KeptState(
      session: session, owner: owner, store: try text(), kind: try text(),
      configuration: try data(), version: try integer(), revision: try count(),
      state: try data(), reason: try text(), time: try time())
  }

  private mutating func number() throws(EntryDamage) -> UInt64 {
    var number: UInt64 = 0
    for shift in stride(from: 0, to: 64, by: 7) {
      guard position < bytes.count else { throw EntryDamage() }
      let byte = bytes[position]
      position += 1
      number |= UInt64(byte & 0x7F) << UInt64(shift)
      if byte < 0x80 { return number }
    }
    throw EntryDamage()
  }

  private mutating func integer() throws(EntryDamage) -> Int {
    let number = try number()
    let magnitude = Int(truncatingIfNeeded: number >> 1)
    return number & 1 == 0 ? magnitude : ~magnitude
  }

  /// The largest number of something that is counted: later numbers are far from an overflow.
  private static let maximumCount = 1 << 60

  private mutating func count() throws(EntryDamage) -> Int {
    let count = try integer()
    guard (0...Self.maximumCount).contains(count) else { throw EntryDamage() }
    return count
  }

  private mutating func operation() throws(EntryDamage) -> UInt64 {
    let operation = try number()
    guard operation <= Self.maximumCount else { throw EntryDamage() }
    return operation
  }

  private mutating func data() throws(EntryDamage) -> [UInt8] {
    let count = try number()
    guard count <= UInt64(bytes.count - position) else { throw EntryDamage() }
    defer { position += Int(count) }
    return Array(bytes[position..<position + Int(count)])
  }

  private mutating func text() throws(EntryDamage) -> String {
    String(decoding: try data(), as: UTF8.self)
  }

  private mutating func optionalData() throws(EntryDamage) -> [UInt8]? {
    try number() == 0 ? nil : try data()
  }

  private mutating func optionalText() throws(EntryDamage) -> String? {
    try number() == 0 ? nil : try text()
  }

  private mutating func time() throws(EntryDamage) -> Duration {
    let seconds = try integer()
    return .seconds(seconds) + .nanoseconds(Int64(try integer()))
  }

  private mutating func renewal() throws(EntryDamage) -> StoreRenewal {
    switch try number() {
    case 0: .opened
    case 1: .migrated
    case 2: .restored
    case 3: .unreadable(revision: try count(), reason: try text())
    default: throw EntryDamage()
    }
  }
}
