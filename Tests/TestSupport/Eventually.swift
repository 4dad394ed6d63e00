// SPDX-License-Identifier: Apache-2.0

public import Testing

/// Waits until a condition is true that another task makes true without an event, for example the
/// number of tasks that sleep on a clock or wait for permits.
///
/// Other tasks run between the checks. When the time limit of the test is over, the wait ends and
/// records an issue. If there is an event, a test waits for the event instead: `Record.reaches`,
/// `Watched.until`.
///
/// The condition is checked on the executor of the caller.
public func eventually(
  _ what: Comment, at location: SourceLocation = #_sourceLocation,
  _ condition: () async throws -> Bool
) async rethrows {
  while try await !condition() {
    await Task.yield()
    // This check must be between `yield` and the condition: Swift 6.3 returns to the caller's
    // executor only for code of this function, and calls the condition on the current executor.
    guard !Task.isCancelled else {
      Issue.record("did not happen in time: \(what)", sourceLocation: location)
      return
    }
  }
}
