// SPDX-License-Identifier: Apache-2.0

internal import ServerCore

extension MetricsReading {
  /// The type of the text, as a field of HTTP.
  package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  /// The metrics as text for Prometheus.
  ///
  /// - Source: https://prometheus.io/docs/instrumenting/exposition_formats, version 0.0.4.
  public var prometheusText: String {
    var text = ""
    for family in families {
      let (metric, name) = (family.description, family.description.name)
      text += "# HELP \(name) \(Self.escaped(metric.help, quotes: false))\n"
      text += "# TYPE \(name) \(metric.kind.rawValue)\n"
      for sample in family.samples {
        let labels = Array(zip(metric.labels, sample.labels))
        switch sample.value {
        case .number(let number): text += Self.line(name, labels, number)
        case .histogram(let histogram):
          for (bound, count) in histogram.cumulative {
            text += Self.line("\(name)_bucket", labels + [("le", bound)], Double(count))
          }
          text += Self.line("\(name)_sum", labels, histogram.sum / .seconds(1))
          text += Self.line("\(name)_count", labels, Double(histogram.count))
        }
      }
    }
    return text
  }

  private static func line(
    _ name: String, _ labels: [(String, String)], _ number: Double
  ) -> String {
    let pairs = labels.map { "\($0)=\"\(escaped($1, quotes: true))\"" }.joined(separator: ",")
    return "\(name)\(pairs.isEmpty ? "" : "{\(pairs)}") \(text(of: number))\n"
  }

  private static func text(of number: Double) -> String {
    Int(exactly: number).map(String.init) ?? "\(number)"
  }

  private static func escaped(_ text: String, quotes: Bool) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\"" where quotes: escaped += "\\\""
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
