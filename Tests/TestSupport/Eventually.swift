// SPDX-License-Identifier: Apache-2.0

public import Testing

/// Waits until something holds that another task brings about and that tells no one, such as how many
/// tasks sleep on a clock or wait for permits.
///
/// It lets other tasks run in between, and ends without success when the time of the test is up. Where
/// there is an event, a test waits for that: `Record.reaches`, `Watched.until`, `Signal`.
///
/// The condition is checked where the caller runs.
public func eventually(
  _ what: Comment, at location: SourceLocation = #_sourceLocation,
  _ condition: () async throws -> Bool
) async rethrows {
  while try await !condition() {
    await Task.yield()
    // Between `yield` and the condition, because Swift 6.3 goes back to the caller's executor only for code of
    // this function, and calls the condition wherever it is then.
    guard !Task.isCancelled else {
      Issue.record("never came: \(what)", sourceLocation: location)
      return
    }
  }
}
