// SPDX-License-Identifier: Apache-2.0

extension Hook {
  /// Hands over each published view state, to be kept somewhere.
  ///
  /// The view state, not the state: it is what frontends have seen, and a state may hold what must
  /// not leave the store. While one is being kept, only the newest of those that come is remembered
  /// and kept next, so the store never waits, nothing piles up, and the last state of a store that
  /// closes is kept in the end.
  ///
  /// - Parameters:
  ///   - keep: Keeps one view state; called again when it has returned.
  ///   - failed: Takes what `keep` throws; the next state is kept all the same.
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
      // Past the hook's queue, which sheds what is new when it is full.
      var hook = Hook(stages: [])
      hook.newest = newest
      return hook
    }
  }
}
