// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// A store that was closed in an earlier process. It keeps the revision and the input number from
/// which a new store with the same name continues.
public final class ClosedStore: AnyStore {
  /// The last revision of the store.
  public let revision: Revision
  /// The number of the last input of the store.
  public let lastOperation: UInt64

  /// Creates a closed store.
  ///
  /// - Parameters:
  ///   - revision: The last revision of the store.
  ///   - lastOperation: The number of the last input of the store.
  public init(revision: Revision, lastOperation: UInt64) {
    self.revision = revision
    self.lastOperation = lastOperation
  }

  /// True.
  public let isClosed = true
  /// No tasks.
  public let unfinished: [Task<Void, Never>] = []
  /// False.
  public let hasUnfinished = false

  /// Throws `InputError.closed`.
  public func send(
    reading reader: inout JSONReader, from viewer: Viewer
  ) throws(InputError) -> SendResult? {
    throw .closed
  }
  /// Does nothing: the store publishes no values.
  public func serve(_ server: any StoreServer) {}
  /// Does nothing: the store has no operations to trace.
  public func trace(_ trace: ((TraceRecord) -> Void)?) {}
  /// Does nothing: the store takes no inputs.
  public func take(_ phase: LifecyclePhase) {}
  /// False.
  public let isPresenceAware = false
  /// Does nothing: the store takes no inputs.
  public func take(_ viewers: [Viewer]) {}
  /// Does nothing: the store has no buffers.
  public func dropBuffers() {}
  /// Zero bytes.
  public let shownBytes = 0
  public let hiddenBytes = 0
  /// The JSON value null.
  public var shown: JSONEncodedState { JSONEncodedState(writing: JSONValue.null) }
  /// Ignores the message: the store has no work.
  public func receive(_ message: EffectMessage) {}
  /// Does nothing: the store has no work.
  public func cancel(_ inputID: InputID) {}
  /// Calls `body` immediately with the end `closed`.
  public func whenSettled(_ inputID: InputID, _ body: @escaping (Completion) -> Void) {
    body(Completion(revision: revision, .closed))
  }
  /// True: the store has no work.
  public func isReplied(_ inputID: InputID) -> Bool { true }
  /// False: the store has no work.
  public func hasExchange(_ inputID: InputID) -> Bool { false }
  /// Does nothing: a closed store accepts no inputs.
  public func whenReplied(_ inputID: InputID, _ body: @escaping (Completion) -> Void) {}
  /// Does nothing: no request waits for an input of the store.
  public func respondsAtEnd(of inputID: InputID) {}
  /// Compares the revisions.
  public func hasChanged(since mark: StateMark) -> Bool { revision != mark.revision }
  /// False.
  public let continuesAlone = false
  /// Returns false.
  public func hasWork(through operation: UInt64) -> Bool { false }

  /// True.
  public let isFullyRecorded = true
  /// Does nothing: the store is closed already.
  public func close() -> [Task<Void, Never>] { [] }
  /// Returns false: the store has nothing to record.
  public func prepareRecord(scope: String, epoch: UInt64) -> Bool { false }
  /// 1.
  public let version = 1
  /// Does nothing: the store has no work.
  public func delayWork(by hold: @escaping (@escaping () -> Void) -> Void) {}
  /// Does nothing: the store has nothing to record.
  public func record(by recorder: any StoreRecorder) {}
  /// Does nothing: a closed store is not resumed.
  public func resume(areSomeLost: Bool) {}
  /// Returns false.
  public func canRestart(_ input: [UInt8]) -> Bool { false }
  /// Does nothing: a closed store has no inputs to restart.
  public func restart(_ accepted: AcceptedInput) throws(JSONError) {}
}
