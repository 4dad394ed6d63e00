// SPDX-License-Identifier: Apache-2.0

// The tasks whose handles are not kept, because nothing waits for them or cancels them.

/// Work that runs off the event loop because it would delay other clients there, for example
/// writing a large state.
///
/// No task handle is kept: the work waits for nothing, so it always ends.
public enum Offload {
  /// Calls `work` on a thread of the global pool, and then `body` with its outcome there.
  public static func `do`<Outcome: Sendable>(
    _ work: @escaping @Sendable () async -> Outcome,
    then body: @escaping @Sendable (Outcome) async -> Void
  ) {
    Task { @concurrent in await body(await work()) }
  }

  /// Calls `body` on a thread of the global pool after a time.
  public static func wait(_ time: Duration, then body: @escaping @Sendable () async -> Void) {
    Task { @concurrent in
      // The task is never cancelled, so the sleep does not throw.
      try? await Task.sleep(for: time)
      await body()
    }
  }
}

/// The task that calls a closure on the owner of stores.
///
/// No handle is kept: the closure waits for nothing, so the task always ends.
enum HostTask {
  static func begin(_ body: @escaping @Sendable () async -> Void) {
    Task { await body() }
  }
}

/// The task that empties the queue of one hook; it ends when the queue is finished.
///
/// No handle is kept: nothing waits for a hook, not even a store that closes. Cancelling the task
/// would drop the ends of operations that the hook is guaranteed to receive.
enum HookTask {
  static func begin(_ body: @escaping @Sendable () async -> Void) {
    Task { await body() }
  }
}
