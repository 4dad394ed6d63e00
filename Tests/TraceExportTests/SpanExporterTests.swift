// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import TraceExport

@Suite("Export of spans")
struct SpanExporterTests {
  @Test("the end reports the spans that were dropped since the last report, once")
  func lastDropped() async {
    let queue = SpanQueue()
    let reports = Reports()
    // Nothing is sent, because no span waits.
    let exporter = SpanExporter(
      queue, to: "http://127.0.0.1:1/v1/traces", on: "http://127.0.0.1:1", resource: []
    ) { error in reports.add("\(error)") }
    queue.drop(3)
    for _ in 0..<2 { await exporter.end() }
    #expect(reports.texts.count == 1 && reports.texts.first?.hasPrefix("3 spans were ") == true)
  }

  private final class Reports: Sendable {
    private let state = Mutex<[String]>([])
    var texts: [String] { state.withLock { $0 } }
    func add(_ text: String) { state.withLock { $0.append(text) } }
  }
}
