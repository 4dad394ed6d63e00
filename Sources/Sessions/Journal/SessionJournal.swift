// SPDX-License-Identifier: Apache-2.0

public import StateMachines
public import StatewireJSON

/// A log that outlives the process, of the sessions of a shard that have a handle.
///
/// Used by one thread at a time (`JournalWriter`). A turn is committed before any update or response of it is sent, so that
/// nothing a frontend has seen can be lost, and no revision stands for two states.
public protocol SessionJournal: AnyObject {
  /// Commits the entries of one turn or of several, in order, and blocks until that has ended.
  ///
  /// When it returns all of them are there for a process that reads the journal after this one was killed; if it throws,
  /// none of them.
  func commit(_ entries: [JournalEntry]) throws

  /// Reads all sessions, and what cannot be read of them; called once, before anything is committed, if `overview` is not.
  ///
  /// - Throws: If nothing can be read, or if it was written by a version that cannot be understood.
  func load() throws -> JournalContents

  /// Reads which sessions there are; called once, before anything is committed, if the sessions are loaded one by one.
  ///
  /// - Throws: As `load`.
  func overview() throws -> JournalOverview

  /// Reads one session of the overview.
  ///
  /// - Throws: If the journal cannot be read at the moment.
  func load(_ session: SessionHandle) throws -> LoadedSession

  /// Counts the crashes of restored work; nil where they are not counted.
  var crashes: (any CrashCounter)? { get }
}

extension SessionJournal {
  public var crashes: (any CrashCounter)? { nil }
}

/// One thing that a turn has done. All of it belongs to one session.
public struct JournalEntry: Sendable {
  public let session: SessionHandle
  public let event: Event

  public enum Event: Sendable, Equatable {
    /// The session got its handle; what was written of that handle before is not needed.
    /// - Parameter owner: The identity it belongs to; nil where there are none.
    case opened(owner: String?)
    /// The session is over; nothing of it is needed any more but that it was.
    case ended
    /// The session expires at this time, or not as long as somebody is attached.
    /// - Units: since 1970.
    case expires(at: Duration?)
    /// No frontend is attached.
    /// - Parameters:
    ///   - continues: Whether something in the session continues after a restart although no frontend comes, beside inputs
    ///     whose effects have not ended; true until this says otherwise.
    ///   - bytes: About how much of its limits the session uses while it is loaded.
    case alone(continues: Bool, bytes: Int)
    /// A frontend with a name has had an input accepted.
    /// - Parameter store: The store that has taken all of it already; nil if its effects have not
    ///   ended.
    case sequence(frontend: String, last: Int, store: String?)
    /// What happened to one of its stores.
    case store(String, StoreEvent)
  }

  /// What happened to a store.
  public enum StoreEvent: Sendable, Equatable {
    /// It was opened, for the first time or again; what was written of it before is not needed but
    /// for its last operation.
    /// - Parameter configuration: JSON text.
    case opened(kind: String, configuration: [UInt8], revision: Revision)
    /// It was closed; nothing of it is needed any more but its kind, configuration and revision, and
    /// its last operation.
    case closed
    /// Its folded state; what was written of states before is not needed.
    /// - Parameter state: Nil for a store whose state is never journaled.
    case state(JournalState?, revision: Revision)
    /// An action was folded.
    ///
    /// - Parameters:
    ///   - patch: RFC 6902 operations that lead from the state before to the state now, as JSON
    ///     text; nil for a store whose state is never written down.
    ///   - revision: The revision now; a new one where `frame` is given.
    ///   - frame: The frame for frontends that come back, as `UpdateHistory` keeps it; nil where the
    ///     view state is the same as before, or is never written down.
    case step(patch: [UInt8]?, revision: Revision, frame: [UInt8]?)
    /// What was shown before this revision is hidden: frames before it are not needed, nor kept.
    case redacted(Revision)
    /// Frames that lead to this revision, or to earlier ones, are not needed any more, nor kept.
    case trimmed(Revision)
    /// An input was accepted, and has set off effects that have not ended.
    /// - Parameters:
    ///   - operation: Names it within its store; never used twice there.
    ///   - epoch: That of the process that accepted it, see `OperationID`.
    ///   - input: JSON text; nil for a store whose inputs are never written down.
    ///   - at: When, since 1970.
    case accepted(operation: UInt64, epoch: UInt64, input: [UInt8]?, at: Duration)
    /// An input that was accepted has this sequence of a frontend with a name.
    case numbered(operation: UInt64, frontend: String, sequence: Int)
    /// Its effects have ended.
    case settled(operation: UInt64)
  }

  public init(_ session: SessionHandle, _ event: Event) {
    self.session = session
    self.event = event
  }
}

/// A state on its way to the journal.
public enum JournalState: Equatable, Sendable {
  /// JSON text.
  case text([UInt8])
  /// A state that is written when it is committed, since it may be large.
  case encoded(JSONEncodedState)

  /// The state as JSON text.
  ///
  /// - Complexity: O(length) for one that is encoded.
  public var text: [UInt8] {
    switch self {
    case .text(let text): text
    case .encoded(let state): state.wholeText
    }
  }

  /// About how long its text is, in bytes.
  var expectedBytes: Int {
    switch self {
    case .text(let text): text.count
    case .encoded(let state): state.expectedBytes
    }
  }

  public static func == (one: JournalState, other: JournalState) -> Bool { one.text == other.text }
}

/// What a journal has kept.
public struct JournalContents: Sendable {
  public var sessions: [Session] = []
  /// Sessions that are over, in the order in which they ended; as many of the last ones as are kept.
  public var ended: [(handle: SessionHandle, owner: String?)] = []
  /// What could not be read, one sentence each, for the operator's log.
  public var damage: [String] = []
  /// How often the journal was loaded, this time included.
  public var loads: UInt64 = 0

  public struct Session: Sendable {
    public var handle: SessionHandle
    public var owner: String?
    /// When it expires; nil if somebody was attached at the end.
    /// - Units: since 1970.
    public var deadline: Duration?
    /// The last sequence of each frontend that has a name.
    public var sequences: [(frontend: String, last: Int)] = []
    /// In the order in which they were first opened.
    public var stores: [Store] = []
    /// True if something in it may continue although no frontend is attached, beside inputs whose effects have not ended.
    public var continuesAlone = true
    /// About how much it used of its limits when the last frontend left; 0 if that is not known.
    public var bytes = 0
    /// True if its restored work has crashed the process so often that it is kept as it is and not restored.
    public var isSetAside = false

    public init(handle: SessionHandle) { self.handle = handle }
  }

  public struct Store: Sendable {
    public var name: String
    public var kind: String
    /// JSON text.
    public var configuration: [UInt8]
    public var isClosed = false
    /// The revision when it was opened last.
    public var opened: Revision
    /// The last revision that was written down.
    public var revision: Revision
    /// The state as it was written down last; nil if it never is.
    public var state: [UInt8]?
    /// What has been folded since, in order, each as RFC 6902 operations.
    public var patches: [[UInt8]] = []
    /// The last frames, in order, the last one leading to `revision`.
    public var frames: [(revision: Revision, frame: [UInt8])] = []
    /// The revision before which nothing may be shown any more; 0 if nothing was hidden.
    public var redacted: Revision = 0
    /// Inputs whose effects had not ended, in the order in which they came.
    public var accepted: [(operation: UInt64, epoch: UInt64, input: [UInt8]?, at: Duration)] = []
    /// Whether there may have been others that cannot be read.
    public var lacksInputs = false
    /// Those of them that have a sequence of a frontend with a name.
    public var numbered: [(operation: UInt64, frontend: String, sequence: Int)] = []
    /// The highest operation that was ever accepted under this name, settled or not, also by a store
    /// that was closed since; 0 if none was.
    public var lastOperation: UInt64 = 0

    public init(name: String, kind: String, configuration: [UInt8], opened: Revision) {
      self.name = name
      self.kind = kind
      self.configuration = configuration
      self.opened = opened
      revision = opened
    }
  }

  public init() {}
}
