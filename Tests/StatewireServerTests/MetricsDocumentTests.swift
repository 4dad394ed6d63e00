// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing
import Transports

/// The table of metrics in docs/operations.md: a row for each `MetricDescription`.
///
/// `UPDATE_METRICS=1` writes the table; then the document is read and committed.
@Suite("The table of metrics", .timeLimit(.minutes(15)))
struct MetricsDocumentTests {
  private static let document = TestedPackage.root.appending(path: "docs/operations.md")
  private static let begin = "<!-- Metrics: begin -->\n"
  private static let end = "<!-- Metrics: end -->"

  @Test("is that of the server")
  func table() throws {
    let text = try String(contentsOf: Self.document, encoding: .utf8)
    let start = try #require(text.range(of: Self.begin)).upperBound
    let end = try #require(text.range(of: Self.end)).lowerBound
    if ProcessInfo.processInfo.environment["UPDATE_METRICS"] != nil {
      try text.replacingCharacters(in: start..<end, with: Self.wanted)
        .write(to: Self.document, atomically: true, encoding: .utf8)
      return
    }
    #expect(text[start..<end] == Self.wanted, "UPDATE_METRICS=1 writes the table")
  }

  private static var wanted: String {
    let rows = MetricDescription.all.map { metric in
      let labels = metric.labels.map { "`\($0)`" }.joined(separator: ", ")
      return "| `\(metric.name)` | \(metric.kind.rawValue) | \(labels) | \(metric.help) |\n"
    }
    return "| metric | type | labels | meaning |\n| --- | --- | --- | --- |\n" + rows.joined()
  }
}
