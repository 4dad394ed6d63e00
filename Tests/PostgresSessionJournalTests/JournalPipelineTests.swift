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

  @Test("a refusal that lasts is reported once, and its end with the next commit or failure")
  func refusals() throws {
    var pipeline = JournalPipeline(node: 1)
    pipeline.joined(1, writer: 1)
    let full = PostgresError(.refused, sqlState: "53100", "the disk is full")
    var (generation, last) = (Int64(1), Int64(0))
    func refuse(_ times: Int) throws -> [JournalPipeline.RefusalChange?] {
      try (0..<times).map { _ in
        try end(&pipeline, .failure(full))
        let next = pipeline.next(.init())
        generation += 1
        pipeline.restarted((1, generation), last: last)
        return next.refusal
      }
    }
    pipeline.release([.random()]) { _ in }
    #expect(try refuse(2) == [nil, nil])
    try end(&pipeline, .success(()))
    last += 1
    #expect(pipeline.next(.init()).refusal == nil)

    pipeline.release([.random()]) { _ in }
    #expect(try refuse(4) == [nil, nil, .began(full), nil])
    try end(&pipeline, .success(()))
    last += 1
    #expect(pipeline.next(.init()).refusal == .ended)

    pipeline.release([.random()]) { _ in }
    #expect(try refuse(3).last == .began(full))
    pipeline.giveUpIfLate(.zero)
    #expect(pipeline.next(.init()).refusal == .ended)
    generation += 1
    pipeline.restarted((1, generation), last: last)

    pipeline.release([.random()]) { _ in }
    #expect(try refuse(3).last == .began(full))
  }

  @Test("sessions are read only for the node as which the journal has joined")
  func reading() {
    var pipeline = JournalPipeline(node: 1)
    func canRead(as node: Int64) -> Bool { pipeline.prepareReading(as: node) }
    func restarts() -> Bool { pipeline.next(.init()).restarts }
    #expect(canRead(as: 1))
    pipeline.joined(1, writer: 1)
    #expect(canRead(as: 1))
    // The node has joined again, and the journal has not noticed that its lease was lost.
    #expect(!canRead(as: 2))
    #expect(restarts())
    #expect(!canRead(as: 2))
    // One restart is enough.
    #expect(!restarts())
    pipeline.joined(2, writer: 2)
    #expect(canRead(as: 2))
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
