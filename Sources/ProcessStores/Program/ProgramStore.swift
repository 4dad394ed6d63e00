// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireJSON

/// A store in a program. The program forgets the store when the object is released.
final class ProgramStore: Sendable {
  private let program: StoreProgram
  private let setup: StoreSetup

  init(_ setup: StoreSetup, in program: StoreProgram) {
    (self.setup, self.program) = (setup, program)
  }

  deinit { program.post(.close(store: setup.number)) }

  /// Passes an input to the program.
  func send(
    _ input: JSONText, from viewer: Viewer, number: UInt64?, _ reply: ExchangeReply<ProcessAction>
  ) {
    post(.input(input, viewer, number: number, reply), reply)
  }

  /// Passes an action to the program, or drops it.
  func act(
    _ action: JSONText, of key: Int, _ origin: ActionOrigin, _ failure: ActionFailure?,
    isDropped: Bool, _ reply: ExchangeReply<ProcessAction>
  ) {
    let job = ProgramJob.action(action, of: key, origin, failure, reply)
    if isDropped { return program.post(.drop(job), after: reply.queue) }
    post(job, reply)
  }

  private func post(_ job: ProgramJob, _ reply: ExchangeReply<ProcessAction>) {
    program.post(.job(store: setup.number, job), after: reply.queue)
  }

  /// Begins the feed of updates, and restores the store if the program does not know it.
  func begin(from state: ProcessState, _ reply: ExchangeReply<ProcessAction>) {
    program.post(.begin(setup, state, reply))
  }

  /// Asks the program to do work; the stream ends with it.
  func run(_ effect: PendingEffect, attempt: Int) -> AsyncStream<WorkEvent> {
    let number = program.nextNumber()
    let (events, continuation) = AsyncStream.makeStream(
      of: WorkEvent.self, bufferingPolicy: .bufferingOldest(WorkEvent.maximumWaiting))
    continuation.onTermination = { [program] reason in
      if case .cancelled = reason { program.post(.cancel(work: number)) }
    }
    program.post(.job(store: setup.number, .work(number, effect, attempt: attempt, continuation)))
    return events
  }

  /// Passes the subscribed viewers to the program.
  func viewersChanged(_ viewers: [Viewer]) {
    program.post(.viewers(store: setup.number, viewers))
  }

  /// Returns the reason to refuse an input that does not fit its schema.
  func refusal(of input: JSONText) -> InputRefusal? { program.refusal(of: input) }
}
