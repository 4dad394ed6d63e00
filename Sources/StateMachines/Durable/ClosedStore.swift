// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// What is left of a store that was closed in an earlier process: where counting goes on.
public final class ClosedStore: AnyStore {
  public let revision: Revision
  public let lastOperation: UInt64

  /// - Parameters:
  ///   - revision: Its last one.
  ///   - lastOperation: The last input that had a number.
  public init(revision: Revision, lastOperation: UInt64) {
    self.revision = revision
    self.lastOperation = lastOperation
  }

  public let isClosed = true
  public let unfinished: [Task<Void, Never>] = []

  public func send(reading reader: inout JSONReader) throws(InputError) -> SendResult? {
    throw .closed
  }
  public func serve(_ server: any StoreServer) {}
  public func trace(_ trace: ((TraceRecord) -> Void)?) {}
  public func take(_ phase: LifecyclePhase) {}
  public func dropBuffers() {}
  public let shownBytes = 0
  public var shown: JSONEncodedState { JSONEncodedState(writing: JSONValue.null) }
  public func receive(_ message: EffectMessage) {}
  public func cancel(_ inputID: InputID) {}
  public func whenSettled(_ inputID: InputID, _ body: @escaping (Completion) -> Void) {
    body(Completion(revision: revision, .closed))
  }
  public func answersEnd(of inputID: InputID) {}
  public func hasChanged(since mark: StateMark) -> Bool { revision != mark.revision }
  public let continuesAlone = false
  public func hasWork(through operation: UInt64) -> Bool { false }
  public func close() -> [Task<Void, Never>] { [] }
  public func prepareRecord(scope: String, epoch: UInt64) -> Bool { false }
  public func holdWork(by hold: @escaping (any HeldWork) -> Void) {}
  public func record(by recorder: any StoreRecorder) {}
  public func resume(areSomeLost: Bool) {}
  public func restart(_ accepted: AcceptedInput) throws(JSONError) {}
}
