// SPDX-License-Identifier: Apache-2.0

public import Testing

/// Waits until something holds that another task brings about and that tells no one, such as how many
/// tasks sleep on a clock or wait for permits.
///
/// It lets other tasks run in between, and ends without success when the time of the test is up. Where
/// there is an event, a test waits for that: `Record.reaches`, `Watched.until`, `Signal`.
public func eventually(
  _ what: Comment, at location: SourceLocation = #_sourceLocation,
  _ condition: () async throws -> Bool
) async rethrows {
  while try await !condition() {
    guard !Task.isCancelled else {
      Issue.record("never came: \(what)", sourceLocation: location)
      return
    }
    await Task.yield()
  }
}
