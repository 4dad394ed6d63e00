// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import StateMachines
internal import StatewireJSON

/// The last events of a session, recorded while the console reads them.
///
/// Its memory is bounded: beyond a number of events or bytes, the oldest events are dropped. It
/// belongs to the shard of the session. A session without a recording pays one comparison for each
/// publication, and nothing for anything else: traces and inputs pass through closures that exist
/// only while there is a recording.
public final class SessionRecording {
  /// The greatest number of events.
  public static let maximumEvents = 20_000
  /// The greatest memory of the events.
  ///
  /// - Units: bytes.
  public static let maximumBytes = 8 << 20
  /// The longest text of an event; a longer one is left out.
  ///
  /// - Units: bytes.
  static let maximumTextBytes = 256 << 10
  /// The largest state from which others are computed.
  ///
  /// - Units: bytes.
  static let maximumStateBytes = 1 << 20

  private let clock: any StoreClock
  private(set) var events: Deque<RecordedEvent> = []
  /// The memory of the events, approximately.
  private(set) var byteCount = 0
  /// The number of the last event.
  public private(set) var last = 0
  /// The time at which the console has read last.
  var lastRead: ContinuousClock.Instant
  /// The last event before the last redaction of each store. Texts up to it are not shown.
  private(set) var redactions = ByName<Int>()
  /// The bytes of patches since the last whole state, by store.
  private var patchBytes = ByName<Int>()
  /// The functions that took the inputs of each store entry before.
  var sends: [ObjectIdentifier: StoreKind.Made.Send] = [:]
  /// The input that a client sends and that has not begun.
  private var arriving: (text: [UInt8]?, viewer: Viewer)?
  /// The hidden states of stores as they were recorded last, by store.
  private var hidden = ByName<JSONEncodedState>()

  init(_ clock: any StoreClock, at now: ContinuousClock.Instant) {
    self.clock = clock
    lastRead = now
  }

  /// The number of events that are kept.
  var count: Int { events.count }
  /// The number of the oldest event that is kept.
  public var first: Int { last - events.count + 1 }

  private func add(_ content: RecordedEvent.Content, of entry: StoreEntry) {
    last += 1
    let event = RecordedEvent(
      number: last, time: clock.uptime, store: entry.name, kind: entry.kind, content: content)
    events.append(event)
    byteCount += event.bytes
    while events.count > Self.maximumEvents || byteCount > Self.maximumBytes,
      let oldest = events.first
    {
      byteCount -= oldest.bytes
      events.removeFirst()
    }
  }

  private static func copy(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
    text.count <= maximumTextBytes ? Array(text) : nil
  }
}

// MARK: - Recording

extension SessionRecording {
  /// Begins with a store as it is.
  func opened(_ entry: StoreEntry) {
    let configuration = entry.configuration.withUnsafeBytes { Self.copy($0) }
    add(.opened(configuration, revision: entry.store.revision), of: entry)
    addState(of: entry)
  }

  /// Records the end of a store.
  func closed(_ entry: StoreEntry) {
    sends[ObjectIdentifier(entry)] = nil
    hidden[entry.name] = nil
    add(.closed, of: entry)
  }

  /// Adds a record of the store's trace.
  ///
  /// The beginning of an operation comes with its request. The streams of actions and of states are
  /// as long as the store; a state comes with its update, and an immediate action in the stream.
  func traced(_ record: TraceRecord, of entry: StoreEntry) {
    switch (record.operation.stage, record.moment) {
    case (_, .receiveSubscription), (.state, _), (.input, .receiveOutput): return
    case (.input, .receiveRequest):
      add(.input(record, text: arriving?.text, viewer: arriving?.viewer), of: entry)
      arriving = nil
    case (.action, let moment) where moment != .receiveOutput: return
    default: add(.traced(record), of: entry)
    }
  }

  /// Keeps an input that a client sends, until `arrived`.
  func arrives(_ text: UnsafeRawBufferPointer, from viewer: Viewer) {
    arriving = (Self.copy(text), viewer)
  }

  /// Forgets the input that arrives.
  func withdraw() { arriving = nil }

  /// Records the input as refused, unless the trace has recorded it as accepted.
  func arrived(at entry: StoreEntry) {
    guard let (text, viewer) = arriving else { return }
    arriving = nil
    add(.refused(text: text, viewer: viewer), of: entry)
  }

  /// Records a publication of the store.
  func published(
    _ patch: UnsafeRawBufferPointer, _ publication: borrowing Publication, _ base: Revision,
    by entry: StoreEntry
  ) {
    let copy = publication.isRedaction ? nil : Self.copy(patch)
    let hidden = hiddenPatch(of: entry)
    add(
      .updated(
        base: base, revision: publication.revision, patch: copy,
        hidden: copy == nil ? nil : hidden), of: entry)
    if publication.isRedaction {
      redactions[entry.name] = last
      return addState(of: entry)
    }
    let since =
      (patchBytes[entry.name] ?? 0) + patch.count + (hidden?.count ?? 0) + 64
    patchBytes[entry.name] = since
    if copy == nil || since > max(64 << 10, entry.store.shown.expectedBytes) {
      addState(of: entry)
    }
  }

  /// Records an event of the store.
  func happened(_ event: UnsafeRawBufferPointer, at entry: StoreEntry) {
    add(.happened(Self.copy(event)), of: entry)
  }

  /// Returns the patch of the hidden state since it was recorded last; nil if there is no such state.
  private func hiddenPatch(of entry: StoreEntry) -> [UInt8]? {
    guard hidden[entry.name] != nil, case .hidden(let next) = entry.store.copyable else {
      return nil
    }
    var patch = JSONPatchWriter()
    hidden[entry.name]?.advance(to: next, writing: &patch)
    return patch.withBytes { Array($0) }
  }

  /// Keeps the whole state, which costs a copy of its text, not of its lists.
  private func addState(of entry: StoreEntry) {
    patchBytes[entry.name] = 0
    hidden[entry.name] = nil
    let state = entry.store.shown
    guard state.expectedBytes <= Self.maximumStateBytes else { return }
    var copyable = entry.store.copyable
    if case .hidden(let state) = copyable {
      if state.expectedBytes <= Self.maximumStateBytes {
        hidden[entry.name] = state
      } else {
        copyable = .none
      }
    }
    add(.state(state, copyable, revision: entry.store.revision), of: entry)
  }
}
