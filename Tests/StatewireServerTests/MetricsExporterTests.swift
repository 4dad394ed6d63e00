// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
import MetricsTestKit
import Testing

@testable import StatewireServer
@testable import Transports

@Suite("Metrics for swift-metrics", .timeLimit(.minutes(15)))
struct MetricsExporterTests {
  @Test("a counter is incremented by its difference, a gauge is set")
  func numbers() throws {
    let library = TestMetrics()
    let exporter = MetricsExporter(library)
    for (inputs, stores) in [(3.0, 2.0), (5.0, 1.0), (5.0, 1.0)] {
      var reading = MetricsReading()
      reading.add(.inputs, inputs, labels: ["todo"])
      reading.add(.stores, stores, labels: ["todo"])
      exporter.export(reading)
    }
    let labels = [("kind", "todo")]
    #expect(library.counterTotal(label: "statewire_inputs_total", dimensions: labels) == 5)
    #expect(try library.expectMeter("statewire_stores", labels).values == [2, 1, 1])
  }

  @Test("a histogram becomes counters of its buckets, its sum and its count")
  func histograms() throws {
    let library = TestMetrics()
    let exporter = MetricsExporter(library)
    for counts in [[1, 2, 0], [1, 3, 4]] {
      var reading = MetricsReading()
      reading.add(
        .turns,
        [
          .init(
            labels: ["0"],
            value: .histogram(
              .init(
                bounds: [.milliseconds(1), .seconds(2)], counts: counts,
                sum: .seconds(counts[1]))))
        ])
      exporter.export(reading)
    }
    let name = "statewire_turn_duration_seconds"
    let shard = [("shard", "0")]
    func total(_ suffix: String, _ labels: [(String, String)]) -> Int64 {
      library.counterTotal(label: name + suffix, dimensions: labels)
    }
    for (bound, count) in [("0.001", Int64(1)), ("2.0", 4), ("+Inf", 8)] {
      #expect(total("_bucket", shard + [("le", bound)]) == count)
    }
    #expect(total("_sum", shard) == 3)
    #expect(total("_count", shard) == 8)
  }
}
