// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireJSON

/// The parameters with which a store is opened or restored.
struct StoreSetup: Sendable {
  let number: Int
  let name: String
  let configuration: JSONText
}

/// A message of the stores to the thread of the program.
enum ProgramCommandMessage: Sendable {
  case open(StoreSetup, Viewer, now: Int, @Sendable (Result<ProcessState, InputRefusal>) -> Void)
  /// The store listens to updates that belong to no request; it is restored if it is unknown.
  case begin(StoreSetup, ProcessState, ExchangeReply<ProcessAction>)
  case job(store: Int, ProgramJob)
  /// An action that the program does not get, because its store has too many effects.
  case drop(ProgramJob)
  case viewers(store: Int, [Viewer])
  case cancel(work: Int)
  case close(store: Int)
  /// The server ends: no store is opened any more.
  case stopOpening
  /// The loops of the stores end: none gets a reply any more.
  case stopReplying(_ stopped: @Sendable () -> Void)
  /// The process is replaced by one of another command.
  case replace(ProgramCommand)
  /// The process is replaced by one of the same command if the last start has failed.
  case retry
}

/// A request of a store to the program.
///
/// Indirect: it passes through several queues, and its values are expensive to copy.
indirect enum ProgramJob: Sendable {
  case input(JSONText, Viewer, number: UInt64?, ExchangeReply<ProcessAction>)
  case action(JSONText, of: Int, ActionOrigin, ActionFailure?, ExchangeReply<ProcessAction>)
  /// Work, with a number that is unique within the server.
  case work(Int, PendingEffect, attempt: Int, AsyncStream<WorkEvent>.Continuation)
}

/// A report of work that the program does.
enum WorkEvent: Sendable {
  case action(JSONText)
  case ended(JSONText?)
  case failed(ActionFailure)

  /// The most events that wait for the store: 1,000 actions, one more, for which the program is
  /// ended, and the end of the work.
  static let maximumWaiting = 1_002
}
