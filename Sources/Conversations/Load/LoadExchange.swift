// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

/// One play of a load script by one client: what it sends next, and what it has received.
///
/// A value without sockets and clocks: times are those since the start of the load.
struct LoadExchange: Sendable {
  private let script: LoadScript
  private var bindings: Bindings
  /// The intended times of the requests without a response, by connection and id. Several requests
  /// have the same id if the conversation uses it again.
  private var open: [String: [String: [Duration]]] = [:]
  private var seenNotifications: [String: Int] = [:]
  private(set) var tally = LoadTally()

  /// A message whose values are known.
  enum Filled: Equatable {
    case message([UInt8])
    case raw([UInt8])
  }

  /// Creates a play that has sent nothing yet.
  ///
  /// - Parameters:
  ///   - script: The messages to send, and the values to keep.
  ///   - given: The values of names that no message gives a value.
  init(_ script: LoadScript, given: Bindings) {
    self.script = script
    bindings = given
  }

  /// Returns a message of the script; nil while a value for it has not been received.
  func filled(_ message: LoadScript.Message) -> Filled? {
    switch message.outgoing {
    case .frame(let bytes): .message(bytes)
    case .raw(let bytes): .raw(bytes)
    case .message(let pattern): (try? pattern.filled(from: bindings)).map { .message($0.bytes) }
    }
  }

  /// Records a message that is being sent.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - connection: The name of its connection.
  ///   - intended: The time at which it was to be sent.
  mutating func sent(_ message: Filled, on connection: String, intended: Duration) {
    for id in count(message, by: 1) {
      open[connection, default: [:]][id, default: []].append(intended)
    }
  }

  /// Records that the last message of `sent` could not be sent. If a response to it has arrived, it
  /// was sent.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - connection: The name of its connection.
  ///   - intended: The time at which it was to be sent.
  mutating func failed(_ message: Filled, on connection: String, intended: Duration) {
    let ids = count(message, by: -1)
    guard ids.allSatisfy({ open[connection]?[$0]?.last == intended }) else {
      _ = count(message, by: 1)
      return
    }
    for id in ids { setTimes(open[connection]?[id]?.dropLast() ?? [], of: id, connection) }
    tally.unsent += 1
  }

  /// Counts the requests and notifications in a message; -1 undoes that.
  ///
  /// - Returns: The ids of the requests.
  private mutating func count(_ message: Filled, by change: Int) -> [String] {
    guard case .message(let bytes) = message, let value = try? JSONValue(parsing: bytes) else {
      tally.notifications += change
      return []
    }
    var ids: [String] = []
    for part in value.parts {
      guard let id = part["id"] else {
        tally.notifications += change
        continue
      }
      tally.requests += change
      if part["method"] == "store/send" { tally.inputs += change }
      ids.append("\(id)")
    }
    return ids
  }

  private mutating func setTimes(
    _ times: ArraySlice<Duration>, of id: String, _ connection: String
  ) {
    open[connection]?[id] = times.isEmpty ? nil : Array(times)
  }

  /// Records a message of the server.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - connection: The name of its connection.
  ///   - time: The time at which it has arrived.
  ///   - latencies: Gets the times of the requests to which it responds.
  mutating func received(
    _ message: [UInt8], on connection: String, at time: Duration,
    latencies: inout LatencyHistogram
  ) {
    guard let value = try? JSONValue(parsing: message) else { return }
    for part in value.parts { received(part, connection, time, &latencies) }
  }

  private mutating func received(
    _ message: JSONValue, _ connection: String, _ time: Duration,
    _ latencies: inout LatencyHistogram
  ) {
    let captures = script.captures[connection]
    guard message["method"] == nil else {
      tally.updates += 1
      let next = seenNotifications[connection] ?? 0
      guard let patterns = captures?.notifications, patterns.indices.contains(next) else { return }
      var tried = bindings
      guard patterns[next].matches(message, binding: &tried) else { return }
      bindings = tried
      seenNotifications[connection] = next + 1
      return
    }
    let id = "\(message["id"] ?? .null)"
    captures?.responses[id]?.capture(from: message, into: &bindings)
    guard let times = open[connection]?[id], let intended = times.first else { return }
    setTimes(times.dropFirst(), of: id, connection)
    tally.responses += 1
    latencies.add(time - intended)
    if let code = message["error"]?["code"]?.int { tally.errors[code, default: 0] += 1 }
  }

  /// True if all requests have a response.
  var hasAllResponses: Bool { open.values.allSatisfy(\.isEmpty) }

  /// Changes the counts that only the adapter knows.
  mutating func count(_ change: (inout LoadTally) -> Void) { change(&tally) }
}

extension JSONValue {
  /// The messages of a batch, or this message.
  fileprivate var parts: [JSONValue] { array ?? [self] }
}
