// SPDX-License-Identifier: Apache-2.0

import Logging
import StateMachines
import Testing

@testable import StatewireServer

@Suite("Repeated failures")
struct RepeatedFailuresTests {
  private struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  @Test("logs one in a minute, and at the end the last one")
  func limited() {
    let lines = Lock<[String]>([])
    let failures = RepeatedFailures(
      Logger(label: "test") { _ in LogLines { line in lines.withLock { $0.append(line) } } }, "it: "
    )
    failures.end()
    for count in 1...3 { failures.log(Failure(description: "\(count)")) }
    #expect(lines.withLock { $0 } == ["error: it: 1"])
    for _ in 0..<2 { failures.end() }
    #expect(lines.withLock { $0 } == ["error: it: 1", "error: it: 3"])
  }
}
