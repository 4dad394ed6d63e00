// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import StatewireJSON
import Testing

@testable import Conversations

@Suite("Load")
struct LoadTests {
  @Test("a percentile is at most 1 % above the exact one, and the maximum is exact")
  func percentiles() {
    var histogram = LatencyHistogram()
    #expect(histogram.percentile(0.99) == .zero)
    let durations = (1...10_000).map { Duration.microseconds($0 * $0) }
    for duration in durations.shuffled() { histogram.add(duration) }
    for share in [0.001, 0.5, 0.9, 0.99, 0.999, 1] {
      let exact = durations[Int((share * 10_000).rounded(.up)) - 1]
      let found = histogram.percentile(share)
      #expect(found >= exact && found <= exact * 1.01, "\(share): \(found), not \(exact)")
    }
    #expect(histogram.maximum == .seconds(100))
    #expect(histogram.percentile(1) == .seconds(100))
  }

  @Test("short and very long durations are counted")
  func extremes() {
    var histogram = LatencyHistogram()
    for nanoseconds in 0..<256 { histogram.add(.nanoseconds(nanoseconds)) }
    #expect(histogram.percentile(0.5) == .nanoseconds(127))
    histogram.add(.seconds(-1))
    #expect(histogram.percentile(0) == .zero)
    var long = LatencyHistogram()
    long.add(.seconds(1_000_000_000_000))
    #expect(long.percentile(0.5) > .seconds(9_000_000_000))
    #expect(long.maximum == .seconds(1_000_000_000_000))
  }

  @Test("clients alternate at equal intervals, until the end of the duration")
  func schedule() {
    let schedule = LoadSchedule(clients: 3, rate: 10, duration: .seconds(1))
    let times = (0..<3).map { client in
      (0..<100).compactMap { schedule.time(of: $0, client: client) }
    }
    #expect(times.map { $0.count } == [4, 3, 3])
    #expect(
      times.joined().sorted() == (0..<10).map { Duration.milliseconds($0 * 100) })
    let once = LoadSchedule(clients: 3, rate: 10, duration: nil)
    #expect(once.time(of: 1000, client: 0) == .seconds(300))
    #expect(once.end(messages: 4) == .milliseconds(1200))
  }

  private func exchange(_ text: String) throws -> (LoadScript, LoadExchange) {
    let script = try LoadScript(try conversation(text))
    return (script, LoadExchange(script, given: Bindings()))
  }

  /// Records a message without regard to its time.
  private func receive(
    _ message: String, on connection: String, at time: Duration, _ exchange: inout LoadExchange
  ) -> LatencyHistogram {
    var latencies = LatencyHistogram()
    exchange.received(Array(message.utf8), on: connection, at: time, latencies: &latencies)
    return latencies
  }

  @Test("a message waits for the value of a response, whatever else differs in it")
  func values() throws {
    var (script, exchange) = try exchange(
      """
      --> {"id": 1, "method": "session/open"}
      <-- {"id": 1, "result": {"session": "<s:string>", "revision": 4}}
      --> {"id": "x", "method": "store/send", "params": ["<s>"]}
      <-- {"method": "store/event", "params": {"n": "<n>"}}
      B --> {"id": 1, "method": "<n>"}
      """)
    #expect(script.connections == ["", "B"])
    let first = try #require(exchange.filled(script.messages[0]))
    exchange.sent(first, on: "", intended: .seconds(1))
    #expect(exchange.filled(script.messages[1]) == nil)
    // The other connection has the same id.
    _ = receive(#"{"id":1,"result":{"session":"no"}}"#, on: "B", at: .seconds(1), &exchange)
    #expect(exchange.filled(script.messages[1]) == nil)
    let latencies = receive(
      #"{"id":1,"result":{"session":"h7","revision":5}}"#, on: "", at: .seconds(3), &exchange)
    // From the time at which it was to be sent.
    #expect(latencies.maximum == .seconds(2))
    let second = try #require(exchange.filled(script.messages[1]))
    #expect(second == .message(Array(#"{"id":"x","method":"store/send","params":["h7"]}"#.utf8)))
    exchange.sent(second, on: "", intended: .seconds(4))
    #expect(!exchange.hasAllResponses)
    let none = receive(
      #"[{"method":"store/changed"},{"method":"store/event","params":{"n":"m"}}]"#,
      on: "", at: .seconds(4), &exchange)
    #expect(none.count == 0)
    #expect(exchange.filled(script.messages[2]) == .message(Array(#"{"id":1,"method":"m"}"#.utf8)))
    let last = receive(
      #"{"id":"x","error":{"code":-32015}}"#, on: "", at: .milliseconds(4_500), &exchange)
    #expect(last.maximum == .milliseconds(500))
    #expect(exchange.hasAllResponses)
    let tally = exchange.tally
    #expect(tally.requests == 2)
    #expect(tally.inputs == 1)
    #expect(tally.responses == 2)
    #expect(tally.updates == 2)
    #expect(tally.errors == [-32015: 1])
  }

  @Test("requests of a batch count one by one, notifications and other bytes separately")
  func batches() throws {
    var (script, exchange) = try exchange(
      """
      --> [{"id": 1, "method": "store/send"}, {"id": 2, "method": "a"}, {"method": "b"}]
      --> frame not JSON
      --> raw "x"
      """)
    for message in script.messages {
      exchange.sent(try #require(exchange.filled(message)), on: "", intended: .zero)
    }
    _ = receive(#"[{"id":2,"result":1}]"#, on: "", at: .seconds(1), &exchange)
    let tally = exchange.tally
    #expect((tally.requests, tally.notifications, tally.inputs) == (2, 3, 1))
    #expect(tally.withoutResponse == 1)
    #expect(throws: LoadFault.self) { try LoadScript(try conversation("<-- 1")) }
  }

  @Test("a message whose sending has failed counts as not sent, unless it has a response")
  func failed() throws {
    var (script, exchange) = try exchange(
      """
      --> {"id": 1, "method": "store/send"}
      --> [{"id": 1, "method": "store/send"}, {"method": "b"}]
      --> {"method": "c"}
      """)
    let messages = try script.messages.map { try #require(exchange.filled($0)) }
    exchange.sent(messages[0], on: "", intended: .seconds(1))
    for (index, message) in messages.enumerated().dropFirst() {
      exchange.sent(message, on: "", intended: .seconds(index + 1))
      exchange.failed(message, on: "", intended: .seconds(index + 1))
    }
    var tally = exchange.tally
    #expect((tally.requests, tally.notifications, tally.inputs) == (1, 0, 1))
    #expect(tally.unsent == 2 && !exchange.hasAllResponses)
    let latencies = receive(#"{"id":1,"result":{}}"#, on: "", at: .seconds(3), &exchange)
    #expect(latencies.maximum == .seconds(2))
    exchange.failed(messages[0], on: "", intended: .seconds(1))
    tally = exchange.tally
    #expect((tally.requests, tally.responses, tally.unsent) == (1, 1, 2))
    #expect(exchange.hasAllResponses)
  }

  @Test("requests with the same id each have a response, in their order")
  func sameIDs() throws {
    var (script, exchange) = try exchange(
      """
      --> {"id": 1, "method": "a"}
      --> {"id": 1, "method": "b"}
      """)
    for (index, message) in script.messages.enumerated() {
      exchange.sent(try #require(exchange.filled(message)), on: "", intended: .seconds(index))
    }
    for _ in 0..<2 {
      #expect(!exchange.hasAllResponses)
      let latencies = receive(#"{"id":1,"result":{}}"#, on: "", at: .seconds(3), &exchange)
      #expect(latencies.count == 1)
    }
    #expect(exchange.hasAllResponses && exchange.tally.withoutResponse == 0)
  }

  // The message that failed counted as sent, and the ones after it did not count at all.
  @Test("messages that cannot be sent count as not sent, and their connections as failed")
  func unsent() async throws {
    let conversation = try conversation(
      """
      --> {"method": "a"}
      --> {"id": 1, "method": "b"}
      --> {"method": "c"}
      """)
    let run = try LoadRun(conversation, clients: 2, rate: 1000, duration: nil) {
      let connection = try await ClientConnection.spawn(["cat"])
      await connection.close(patience: .zero)
      return connection
    }
    let report = await run.run()
    #expect(report.tally.requests == 0 && report.tally.notifications == 0)
    #expect(report.tally.unsent == 6)
    #expect((report.tally.connections, report.tally.failedConnections) == (2, 2))
    #expect(!report.isComplete)
  }

  @Test("the report has the rates, and shows if the load generator was the bottleneck")
  func report() {
    var tally = LoadTally()
    (tally.requests, tally.responses, tally.inputs) = (400, 399, 200)
    tally.errors = [-32601: 7]
    var times = LoadTimes()
    for number in 0..<100 { times.latencies.add(.milliseconds(number)) }
    for _ in 0..<98 { times.delays.add(.microseconds(10)) }
    for _ in 0..<2 { times.delays.add(.milliseconds(40)) }
    let schedule = LoadSchedule(clients: 2, rate: 100, duration: nil)
    let report = LoadReport(
      schedule: schedule, tally: tally, times: times, sendingTime: .seconds(4))
    #expect(report.isGeneratorLimit)
    #expect(!report.isComplete)
    #expect(report.json["sentRate"] == 100)
    #expect(report.json["inputsPerSecond"] == 50)
    #expect(report.json["withoutResponse"] == 1)
    #expect(report.json["errors"] == ["-32601": 7])
    #expect(report.json["latencyMilliseconds"]?["max"] == 99)
    #expect(report.text.contains("The load generator was the bottleneck"))
    times.delays = LatencyHistogram()
    tally.responses = 400
    let good = LoadReport(
      schedule: schedule, tally: tally, times: times, sendingTime: .seconds(4))
    #expect(good.isComplete && !good.isGeneratorLimit)
    #expect(!good.text.contains("was the limit"))
  }

  // A wait that timed out ended a stream that all waits shared, so that each later wait returned
  // immediately: the generator checked its condition again and again.
  @Test("after a wait that is cancelled, a wait checks its condition only after changes")
  func waits() async {
    let watched = Watched(0)
    let checks = Watched(0)
    let (checked, check) = AsyncStream.makeStream(of: Void.self)
    var eachCheck = checked.makeAsyncIterator()
    @Sendable func wait(for number: Int) async -> Int? {
      await watched.first { value in
        checks.withLock { $0 += 1 }
        check.yield()
        return value >= number ? value : nil
      }
    }
    let cancelled = Task { await wait(for: 1) }
    await eachCheck.next()
    cancelled.cancel()
    #expect(await cancelled.value == nil)
    #expect(checks.withLock { $0 } == 1)
    async let found = wait(for: 2)
    await eachCheck.next()
    watched.withLock(notifies: true) { $0 = 1 }
    await eachCheck.next()
    // Many more checks would follow here.
    for _ in 0..<1000 { await Task.yield() }
    watched.withLock(notifies: true) { $0 = 2 }
    #expect(await found == 2)
    #expect(checks.withLock { $0 } == 4)
  }
}
