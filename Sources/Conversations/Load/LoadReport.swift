// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// The result of a load.
public struct LoadReport: Sendable, Equatable {
  let schedule: LoadSchedule
  let tally: LoadTally
  let times: LoadTimes
  /// The time from the start until the last message was sent.
  let sendingTime: Duration

  /// The delay of the generator above which it was the limit.
  static let acceptableDelay = Duration.milliseconds(10)

  /// True if the generator has sent 1 % of the messages more than 10 ms late, for no reason of the
  /// server: the latencies then contain its delay, and the rate was not reached by its fault.
  public var isGeneratorLimit: Bool { times.delays.percentile(0.99) > Self.acceptableDelay }

  /// True if all requests were sent and have a response, which may be an error.
  public var isComplete: Bool {
    tally.withoutResponse == 0 && tally.failedConnections == 0 && tally.unsent == 0
  }

  private static let percentiles: [(name: String, share: Double)] = [
    ("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999),
  ]

  private var seconds: Double { max(sendingTime / .seconds(1), 1e-9) }

  /// The number of messages that were sent.
  private var messages: Int { tally.requests + tally.notifications }

  /// The report for programs; times are in milliseconds.
  public var json: JSONValue {
    var latencies = JSONObject(
      Self.percentiles.map { name, share in
        (name, Self.milliseconds(times.latencies.percentile(share)))
      })
    latencies["max"] = Self.milliseconds(times.latencies.maximum)
    return [
      "clients": .number(JSONNumber(Int64(schedule.clients))),
      "seconds": Self.decimal(sendingTime / .seconds(1), digits: 3),
      "targetRate": Self.decimal(schedule.rate, digits: 3),
      "sentRate": Self.decimal(Double(messages) / seconds, digits: 1),
      "requests": Self.count(tally.requests), "notifications": Self.count(tally.notifications),
      "inputs": Self.count(tally.inputs),
      "inputsPerSecond": Self.decimal(Double(tally.inputs) / seconds, digits: 1),
      "responses": Self.count(tally.responses),
      "withoutResponse": Self.count(tally.withoutResponse),
      "errors": .object(
        JSONObject(tally.errors.sorted { $0.key > $1.key }.map { ("\($0)", Self.count($1)) })),
      "updates": Self.count(tally.updates), "connections": Self.count(tally.connections),
      "failedConnections": Self.count(tally.failedConnections),
      "unsent": Self.count(tally.unsent), "latencyMilliseconds": .object(latencies),
      "generator": [
        "delayP99Milliseconds": Self.milliseconds(times.delays.percentile(0.99)),
        "delayMaxMilliseconds": Self.milliseconds(times.delays.maximum),
        "wasLimit": .bool(isGeneratorLimit),
      ],
    ]
  }

  /// The report for people, in several lines.
  public var text: String {
    let json = json
    let latency = json["latencyMilliseconds"]?.object ?? [:]
    let errors = json["errors"]?.object ?? [:]
    var lines = [
      "clients    \(schedule.clients), connections \(tally.connections), "
        + "failed \(tally.failedConnections)",
      "requests   \(tally.requests), responses \(tally.responses), "
        + "without response \(tally.withoutResponse), not sent \(tally.unsent)",
      "errors     " + (errors.isEmpty ? "none" : Self.listed(errors, unit: "")),
      "inputs     \(tally.inputs), \(json["inputsPerSecond"] ?? 0) per second",
      "rate       \(json["sentRate"] ?? 0) of \(json["targetRate"] ?? 0) messages per second, "
        + "for \(json["seconds"] ?? 0) s",
      "latency    " + Self.listed(latency, unit: " ms"),
      "generator  delay p99 \(json["generator"]?["delayP99Milliseconds"] ?? 0) ms, "
        + "max \(json["generator"]?["delayMaxMilliseconds"] ?? 0) ms",
    ]
    if isGeneratorLimit {
      lines.append(
        "The load generator was the bottleneck. Use a lower rate, fewer clients, or a separate machine."
      )
    }
    return lines.joined(separator: "\n")
  }

  private static func listed(_ members: JSONObject, unit: String) -> String {
    members.map { key, value in "\(key): \(value)\(unit)" }.joined(separator: ", ")
  }

  private static func count(_ count: Int) -> JSONValue { .number(JSONNumber(Int64(count))) }

  private static func milliseconds(_ duration: Duration) -> JSONValue {
    decimal(duration / .milliseconds(1), digits: 3)
  }

  /// Returns a number with at most so many digits after the point.
  private static func decimal(_ value: Double, digits: Int) -> JSONValue {
    let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
    let rounded = (value * scale).rounded() / scale
    return (try? JSONValue(parsing: "\(rounded)")) ?? 0
  }
}
