// SPDX-License-Identifier: Apache-2.0

import PostgresConnections
import Sessions
import Testing

@testable import PostgresSessionJournal

@Suite("Pipeline of the journal")
struct JournalPipelineTests {
  @Test("the pause before a generation grows while the database refuses, and ends with a commit")
  func pauses() throws {
    var pipeline = JournalPipeline(node: 1)
    pipeline.joined(1, writer: 1)
    pipeline.release([.random()]) { _ in }
    let full = PostgresError(.refused, sqlState: "53100", "the disk is full")
    var pauses: [Duration] = []
    for generation in 2...7 {
      try end(&pipeline, .failure(full))
      pauses.append(restart(&pipeline, Int64(generation), last: 0))
    }
    #expect(
      pauses == [100, 200, 400, 800, 1000, 1000].map { Duration.milliseconds($0) })
    try end(&pipeline, .success(()))
    #expect(!pipeline.next(.init()).restarts)
    // A connection that was lost is opened again without a pause of the journal.
    pipeline.release([.random()]) { _ in }
    try end(&pipeline, .failure(PostgresError(.unknown, "lost")))
    #expect(restart(&pipeline, 8, last: 1) == .zero)
  }

  private func end(
    _ pipeline: inout JournalPipeline, _ result: Result<Void, PostgresError>
  ) throws {
    let (_, number, writer) = try #require(pipeline.takeUnsent().first)
    pipeline.ended(number, writer.generation, result)
  }

  /// Begins a generation, and returns the pause before it.
  private func restart(
    _ pipeline: inout JournalPipeline, _ generation: Int64, last: Int64
  ) -> Duration {
    let next = pipeline.next(.init())
    #expect(next.restarts)
    pipeline.restarted((1, generation), last: last)
    return next.pause
  }
}
