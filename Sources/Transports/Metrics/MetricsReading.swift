// SPDX-License-Identifier: Apache-2.0

public import ServerCore

/// The metrics of a server at one time.
public struct MetricsReading: Sendable {
  /// The value of a metric for some values of its labels.
  public enum Value: Sendable {
    /// The value of a counter or a gauge.
    case number(Double)
    /// The value of a histogram.
    case histogram(DurationHistogram.Reading)
  }

  /// One value of a metric.
  public struct Sample: Sendable {
    /// The values of the labels, in the order of `MetricDescription.labels`.
    public var labels: [String]
    /// The number or histogram, in the unit that the name of the metric contains, such as seconds.
    public var value: Value
  }

  /// A metric with its values.
  public struct Family: Sendable {
    /// The name, type, labels and meaning of the metric.
    public let description: MetricDescription
    /// The values, with different labels.
    public fileprivate(set) var samples: [Sample]
  }

  /// The metrics that have values, each once.
  public private(set) var families: [Family] = []

  mutating func add(_ metric: MetricDescription, _ number: some BinaryInteger) {
    add(metric, Double(number))
  }

  mutating func add(_ metric: MetricDescription, _ number: Double, labels: [String] = []) {
    add(metric, [Sample(labels: labels, value: .number(number))])
  }

  /// Adds the sum of numbers for each value of the only label.
  mutating func add(_ metric: MetricDescription, by label: some Sequence<(String, Int)>) {
    var sums: [String: Int] = [:]
    var order: [String] = []
    for (name, number) in label {
      if sums[name] == nil { order.append(name) }
      sums[name, default: 0] += number
    }
    add(metric, order.map { Sample(labels: [$0], value: .number(Double(sums[$0] ?? 0))) })
  }

  /// Adds a metric with its values.
  mutating func add(_ metric: MetricDescription, _ samples: [Sample]) {
    assert(samples.allSatisfy { $0.labels.count == metric.labels.count })
    if !samples.isEmpty { families.append(Family(description: metric, samples: samples)) }
  }
}
