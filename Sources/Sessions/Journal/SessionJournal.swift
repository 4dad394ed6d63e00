// SPDX-License-Identifier: Apache-2.0

public import StateMachines
public import StatewireJSON

/// A persistent log of the sessions of a shard that have a handle.
///
/// One thread at a time uses it (`JournalWriter`). A turn is committed before any update or
/// response of it is sent. So everything that a client has seen is durable, and no revision stands
/// for two states.
public protocol SessionJournal: AnyObject {
  /// Commits the entries of one or more turns, in order, and blocks until the commit has ended.
  ///
  /// When it returns, all entries survive the death of the process. When it throws, none of them
  /// do.
  func commit(_ entries: [JournalEntry]) throws

  /// Reads all sessions, which count as loaded. It is called once, before the first commit, instead
  /// of `start`; for tests, and for commands of a stopped server.
  ///
  /// - Throws: If nothing can be read, or if an unknown version has written the journal.
  func load() throws -> JournalContents

  /// Reads what a server needs before its first client. It is called once, before the first commit.
  ///
  /// - Complexity: Independent of the number of sessions.
  /// - Throws: As `load()`.
  func start() throws -> JournalStart

  /// Reads one session, which counts as loaded until it ends or is forgotten. Entries belong only to
  /// sessions that are loaded, or that were opened.
  ///
  /// - Throws: If the journal cannot be read at the moment.
  func load(_ session: SessionHandle) throws -> LoadedSession

  /// Reads which sessions have to be restored although no client attaches.
  ///
  /// - Parameters:
  ///   - position: The position after which to read; nil for the first call.
  ///   - limit: The maximum number of sessions.
  /// - Throws: If the journal cannot be read at the moment.
  func continuing(after position: Int64?, limit: Int) throws -> ContinuingSessions

  /// Ends sessions that are not loaded and whose time is over, without reading them.
  ///
  /// - Parameters:
  ///   - time: The present time since 1970.
  ///   - limit: The maximum number of sessions.
  /// - Returns: The number of ended sessions; less than `limit` if no more are due.
  /// - Throws: If the journal cannot be written at the moment.
  func endExpired(at time: Duration, limit: Int) throws -> Int

  /// Forgets sessions that are no longer in memory: they sleep, or another node may own them.
  func forget(_ sessions: [SessionHandle])

  /// The counter of the crashes of restored work; nil if they are not counted.
  var crashes: (any CrashCounter)? { get }
}

extension SessionJournal {
  /// Does nothing, for a journal without sessions in memory.
  public func forget(_ sessions: [SessionHandle]) {}

  /// No counter.
  public var crashes: (any CrashCounter)? { nil }
}

/// An event of one session in a turn.
public struct JournalEntry: Sendable {
  /// The handle of the session that the event belongs to.
  public let session: SessionHandle
  /// The change of the session that the journal stores.
  public let event: Event

  /// An event of a session.
  public enum Event: Sendable, Equatable {
    /// The session got its handle. It replaces all earlier entries of that handle.
    /// - Parameter owner: The identity of the session; nil if there are no identities.
    case opened(owner: String?)
    /// The session has ended. Only the fact that it existed is still needed.
    case ended
    /// The session expires at this time; nil while a client is attached.
    /// - Units: since 1970.
    case expires(at: Duration?)
    /// No client is attached.
    /// - Parameters:
    ///   - continues: True if something in the session continues after a restart although no client
    ///     attaches, in addition to unsettled inputs; assumed to be true before this entry.
    ///   - bytes: The approximate size of the loaded session, as it counts towards the limits.
    case alone(continues: Bool, bytes: Int)
    /// An input of a named frontend was accepted.
    /// - Parameter store: The store if the input is settled already; otherwise nil.
    case sequence(frontend: String, last: Int, store: String?)
    /// The state of a store cannot be read and is kept. It replaces an earlier state of the same
    /// store and revision. The session may have ended since.
    case keptAside(KeptState)
    /// The operator has removed a state that was kept aside.
    case keptRemoved(KeptState.Key)
    /// An event of a store of the session.
    case store(String, StoreEvent)
  }

  /// An event of a store.
  public enum StoreEvent: Sendable, Equatable {
    /// The store was opened, for the first time or again. It replaces all earlier entries of the
    /// store except its last operation.
    /// - Parameters:
    ///   - configuration: JSON text.
    ///   - version: The version of the machine; see `DurableMachine.version`.
    ///   - renewal: The reason why no earlier revision is continued.
    case opened(
      kind: String, configuration: [UInt8], revision: Revision, version: Int = 1,
      renewal: StoreRenewal = .opened)
    /// The store continues in a state that does not follow from its updates; a `state` follows.
    /// Unsettled inputs remain.
    /// - Parameters:
    ///   - revision: A revision that was never used.
    ///   - version: The version of the machine.
    ///   - renewal: The reason.
    case renewed(revision: Revision, version: Int, renewal: StoreRenewal)
    /// The store was closed. Only its kind, configuration, revision and last operation are still
    /// needed.
    case closed
    /// The folded state. It replaces all earlier states and steps.
    /// - Parameter state: Nil for a store whose state is never journaled.
    case state(JournalState?, revision: Revision)
    /// An action was folded.
    ///
    /// - Parameters:
    ///   - patch: RFC 6902 operations from the previous state to the current state, as JSON text;
    ///     nil for a store whose state is never journaled, and if a `state` follows.
    ///   - revision: The current revision; a new one if `frame` is given.
    ///   - frame: The update for reconnecting clients, as in `UpdateHistory`; nil if the view state
    ///     is unchanged or is never journaled.
    case step(patch: [UInt8]?, revision: Revision, frame: [UInt8]?)
    /// A redaction: updates up to this revision are deleted.
    case redacted(Revision)
    /// Updates up to this revision are not needed any more and are deleted.
    case trimmed(Revision)
    /// An input was accepted and is not settled.
    /// - Parameters:
    ///   - operation: A number of the input that is unique within its store.
    ///   - epoch: The number of the process that accepted it; see `OperationID`.
    ///   - input: JSON text; nil for a store whose inputs are never journaled.
    ///   - at: The time, since 1970.
    case accepted(operation: UInt64, epoch: UInt64, input: [UInt8]?, at: Duration)
    /// An unsettled input has this sequence of a named frontend.
    case numbered(operation: UInt64, frontend: String, sequence: Int)
    /// An input is settled.
    case settled(operation: UInt64)
  }

  /// Creates an entry.
  public init(_ session: SessionHandle, _ event: Event) {
    self.session = session
    self.event = event
  }
}

/// A state to be journaled.
public enum JournalState: Equatable, Sendable {
  /// A state as JSON text.
  case text([UInt8])
  /// A state that is written during the commit, because it can be large.
  case encoded(JSONEncodedState)

  /// The state as JSON text.
  ///
  /// - Complexity: O(length) for `encoded`.
  public var text: [UInt8] {
    switch self {
    case .text(let text): text
    case .encoded(let state): state.wholeText
    }
  }

  /// The approximate length of the text, in bytes.
  var expectedBytes: Int {
    switch self {
    case .text(let text): text.count
    case .encoded(let state): state.expectedBytes
    }
  }

  /// Returns true if both states have the same text.
  public static func == (one: JournalState, other: JournalState) -> Bool { one.text == other.text }
}

/// The contents of a journal.
public struct JournalContents: Sendable {
  /// The sessions that have not ended.
  public var sessions: [Session] = []
  /// The handles of the last sessions that have ended, in the order of their ends.
  public var ended: [(handle: SessionHandle, owner: String?)] = []
  /// The states that are kept aside, oldest first.
  public var kept: [KeptState] = []
  /// The parts that cannot be read, each as one sentence for the log.
  public var damage: [String] = []
  /// Number of times that the journal was loaded, including this one.
  public var loads: UInt64 = 0

  /// A session and its stores.
  public struct Session: Sendable {
    /// The handle of the session.
    public var handle: SessionHandle
    /// The identity that has opened the session; nil if there are no identities.
    public var owner: String?
    /// The time at which it expires; nil if a client was attached at the end.
    ///
    /// - Units: since 1970.
    public var deadline: Duration?
    /// The sequence of the last accepted input of each named frontend.
    public var sequences: [(frontend: String, last: Int)] = []
    /// The stores, in the order in which they were opened first.
    public var stores: [Store] = []
    /// True if something in it may continue although no client attaches, in addition to unsettled
    /// inputs.
    public var continuesAlone = true
    /// The approximate size of the session when the last client left, in bytes; 0 if it is not
    /// known.
    public var bytes = 0
    /// True if its restored work has crashed the process so often that it is set aside: kept in the
    /// journal and not restored.
    public var isSetAside = false

    /// Creates a session without stores.
    public init(handle: SessionHandle) { self.handle = handle }
  }

  /// A store of a session.
  public struct Store: Sendable {
    /// The name in the session.
    public var name: String
    /// The name of the store kind.
    public var kind: String
    /// The configuration, as JSON text.
    public var configuration: [UInt8]
    /// True if the store was closed.
    public var isClosed = false
    /// The version of the machine that has journaled the state; see `DurableMachine.version`.
    public var version = 1
    /// The first revision after it was opened or renewed last.
    public var opened: Revision
    /// The reason why no revision before `opened` is continued.
    public var renewal = StoreRenewal.opened
    /// The last journaled revision.
    public var revision: Revision
    /// The last journaled state, as JSON text; nil if states are not journaled.
    public var state: [UInt8]?
    /// The changes after `state`, in order, each as RFC 6902 operations.
    public var patches: [[UInt8]] = []
    /// The last updates, in order; the last one leads to `revision`.
    public var frames: [(revision: Revision, frame: [UInt8])] = []
    /// The revision of the last redaction; 0 if there was none.
    public var redacted: Revision = 0
    /// The unsettled inputs, in the order of arrival.
    public var accepted: [(operation: UInt64, epoch: UInt64, input: [UInt8]?, at: Duration)] = []
    /// True if there may have been other unsettled inputs that cannot be read.
    public var lacksInputs = false
    /// The sequences of those unsettled inputs that named frontends have sent.
    public var numbered: [(operation: UInt64, frontend: String, sequence: Int)] = []
    /// The highest operation that was ever accepted under this name, also by a store that was
    /// closed; 0 if there was none.
    public var lastOperation: UInt64 = 0

    /// Creates an open store without a state.
    public init(name: String, kind: String, configuration: [UInt8], opened: Revision) {
      self.name = name
      self.kind = kind
      self.configuration = configuration
      self.opened = opened
      revision = opened
    }
  }

  /// The size of the states that are kept aside, in bytes.
  var keptBytes: Int { kept.reduce(0) { $0 + $1.state.count } }

  /// Creates empty contents.
  public init() {}
}
