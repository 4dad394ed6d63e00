// SPDX-License-Identifier: Apache-2.0

extension Hook {
  /// Returns a hook that passes each published view state to a function that persists it.
  ///
  /// It passes the view state, not the state: frontends have seen the view state, and the state may
  /// hold secrets. While `keep` runs, only the newest view state is queued. Therefore the store
  /// never waits, the queue does not grow, and the last state of a store that closes is persisted.
  ///
  /// - Parameters:
  ///   - keep: Persists one view state. It is called again after it has returned.
  ///   - failed: Receives an error that `keep` throws; later states are still passed to `keep`.
  public static func persisting(
    _ keep: @escaping @Sendable (Machine.ViewState) async throws -> Void,
    failed: @escaping @Sendable (any Error) -> Void = { _ in }
  ) -> Hook {
    perStore {
      let (states, newest) = AsyncStream.makeStream(
        of: Machine.ViewState.self, bufferingPolicy: .bufferingNewest(1))
      HookTask.begin {
        for await state in states {
          do { try await keep(state) } catch { failed(error) }
        }
      }
      // Bypasses the hook's queue, which drops new calls when it is full.
      var hook = Hook(stages: [])
      hook.newest = newest
      return hook
    }
  }
}
