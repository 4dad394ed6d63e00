// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import Synchronization

/// A counter of the crashes of the process that the restored work of each session has caused.
///
/// Restored work runs again in each process until it has ended, so a crash in it would end each
/// process.
public protocol CrashCounter: AnyObject, Sendable {
  /// Calls `body`. If the process crashes in it on this thread, the crash is counted for the
  /// session.
  func perform(for session: SessionHandle, _ body: () -> Void)

  /// Records that the restored work of a session has ended; its earlier crashes no longer count.
  func ended(_ session: SessionHandle)
}

/// The restored work of one session: the turn that restores it, and the effects that begin in that
/// turn.
///
/// All effects of the restored stores run on this executor. Until the restored effects have ended
/// (a feed ends when it is cancelled), new effects are counted as well: after a crash they would be
/// restored work too.
final class RestoredWork: TaskExecutor {
  private let session: SessionHandle
  private let crashes: any CrashCounter
  /// The number of parts that have not ended: stores, and the turn that restores the session.
  private let parts = Atomic(1)

  init(_ session: SessionHandle, _ crashes: any CrashCounter) {
    self.session = session
    self.crashes = crashes
  }

  func perform(_ body: () -> Void) { crashes.perform(for: session, body) }

  func partBegan() { parts.add(1, ordering: .relaxed) }

  func partEnded() {
    if parts.subtract(1, ordering: .relaxed).newValue == 0 { crashes.ended(session) }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    guard parts.load(ordering: .relaxed) > 0 else { return globalConcurrentExecutor.enqueue(job) }
    Offload.do(
      { [self] in perform { job.runSynchronously(on: asUnownedTaskExecutor()) } }, then: { _ in })
  }
}
