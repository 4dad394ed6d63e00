// SPDX-License-Identifier: Apache-2.0

internal import CoreMetrics
internal import Transports

/// Gives the metrics of a server to the metrics library of an embedding program.
///
/// A counter is incremented by its difference to the previous export, a gauge is set. A histogram
/// becomes counters, as in Prometheus' text: `_bucket` with the label `le`, `_sum` and `_count`. It
/// does not become a recorder, because the single durations are not kept.
final class MetricsExporter {
  private let factory: any MetricsFactory
  private var counters: [Key: (handler: any FloatingPointCounterHandler, last: Double)] = [:]
  private var gauges: [Key: any MeterHandler] = [:]

  private struct Key: Hashable {
    var name: String
    var labels: [String]
  }

  init(_ factory: any MetricsFactory) { self.factory = factory }

  /// Exports the values of a reading.
  func export(_ reading: MetricsReading) {
    for family in reading.families {
      let metric = family.description
      for sample in family.samples {
        let labels = Array(zip(metric.labels, sample.labels))
        switch sample.value {
        case .number(let number) where metric.kind == .gauge: set(metric.name, labels, number)
        case .number(let number): count(metric.name, labels, number)
        case .histogram(let histogram):
          for (bound, number) in histogram.cumulative {
            count("\(metric.name)_bucket", labels + [("le", bound)], Double(number))
          }
          count("\(metric.name)_sum", labels, histogram.sum / .seconds(1))
          count("\(metric.name)_count", labels, Double(histogram.count))
        }
      }
    }
  }

  private func set(_ name: String, _ labels: [(String, String)], _ number: Double) {
    let key = Key(name: name, labels: labels.map(\.1))
    let handler = gauges[key] ?? factory.makeMeter(label: name, dimensions: labels)
    gauges[key] = handler
    handler.set(number)
  }

  private func count(_ name: String, _ labels: [(String, String)], _ number: Double) {
    let key = Key(name: name, labels: labels.map(\.1))
    let known = counters[key]
    let handler =
      known?.handler ?? factory.makeFloatingPointCounter(label: name, dimensions: labels)
    counters[key] = (handler, number)
    let difference = number - (known?.last ?? 0)
    if difference > 0 { handler.increment(by: difference) }
  }
}
