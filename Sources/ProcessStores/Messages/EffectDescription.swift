// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireJSON

/// An effect as the program describes it.
///
/// - Source: docs/reference/store-protocol.md, Effects.
struct EffectDescription: Codable, Hashable, Sendable {
  enum Kind: String, Codable, Sendable { case action, after, every, cancel, run }

  /// The policy of repeated attempts.
  struct Retry: Codable, Hashable, Sendable {
    let attempts: Int
    let milliseconds: Int
  }

  /// The end of work that a restart has interrupted.
  enum Restart: String, Codable, Sendable { case fail, again }

  let type: Kind
  var action: JSONText?
  var milliseconds: Int?
  var id: String?
  var name: String?
  var arguments: JSONText?
  var failed: JSONText?
  var latest: Bool?
  var serial: String?
  var debounce: Int?
  var throttle: Int?
  var retry: Retry?
  var timeout: Int?
  var restart: Restart?

  /// The longest time that is accepted: 1000 days.
  private static let maximumMilliseconds = 86_400_000_000

  /// The reason why the server cannot carry it out; nil if it can.
  var fault: String? {
    func lacks(_ members: [(String, Bool)]) -> String? {
      members.first { !$0.1 }.map { "an effect of the type \(type.rawValue) needs \($0.0)" }
    }
    let missing: String? =
      switch type {
      case .action: lacks([("action", action != nil)])
      case .after: lacks([("milliseconds", milliseconds != nil), ("action", action != nil)])
      case .every:
        lacks([
          ("milliseconds", milliseconds != nil), ("action", action != nil), ("id", id != nil),
        ])
      case .cancel: lacks([("id", id != nil)])
      case .run: lacks([("name", name != nil)])
      }
    if let missing { return missing }
    if id == nil, latest == true || debounce != nil || throttle != nil {
      return "latest, debounce and throttle need an id"
    }
    if debounce != nil, throttle != nil { return "debounce and throttle cannot be used together" }
    let times = [milliseconds, debounce, throttle, timeout, retry?.milliseconds].compactMap { $0 }
    if times.contains(where: { $0 < 0 || $0 > Self.maximumMilliseconds }) {
      return "a time must be from 0 to \(Self.maximumMilliseconds) milliseconds"
    }
    if type == .every, milliseconds == 0 { return "every needs more than 0 milliseconds" }
    if let retry, !(1...1_000).contains(retry.attempts) { return "attempts must be from 1 to 1000" }
    return nil
  }
}

extension EffectDescription: JSONReadable {
  init(reading reader: inout JSONReader) throws(JSONError) {
    var type: Kind?
    try reader.beginObject()
    while let key = try reader.nextKey() {
      if key == "type" {
        type = try reader.readCase()
        continue
      }
      // An optional member may be null.
      if try reader.readNullIfPresent() { continue }
      switch key {
      case "action": action = try reader.read()
      case "milliseconds": milliseconds = try reader.readInt()
      case "id": id = try reader.readString()
      case "name": name = try reader.readString()
      case "arguments": arguments = try reader.read()
      case "failed": failed = try reader.read()
      case "latest": latest = try reader.readBool()
      case "serial": serial = try reader.readString()
      case "debounce": debounce = try reader.readInt()
      case "throttle": throttle = try reader.readInt()
      case "retry": retry = try reader.read()
      case "timeout": timeout = try reader.readInt()
      case "restart": restart = try reader.readCase()
      default: _ = try reader.skipValue()
      }
    }
    guard let type else { throw reader.missing("type") }
    self.type = type
  }
}

extension EffectDescription.Retry: JSONReadable {
  init(reading reader: inout JSONReader) throws(JSONError) {
    var (attempts, milliseconds): (Int?, Int?) = (nil, nil)
    try reader.beginObject()
    while let key = try reader.nextKey() {
      switch key {
      case "attempts": attempts = try reader.readInt()
      case "milliseconds": milliseconds = try reader.readInt()
      default: _ = try reader.skipValue()
      }
    }
    guard let attempts else { throw reader.missing("attempts") }
    guard let milliseconds else { throw reader.missing("milliseconds") }
    self.init(attempts: attempts, milliseconds: milliseconds)
  }
}

extension JSONReader {
  /// Reads the name of a case.
  fileprivate mutating func readCase<Case: RawRepresentable<String>>() throws(JSONError) -> Case {
    let start = nextValueOffset()
    let name = try readString()
    guard let known = Case(rawValue: name) else {
      throw error(.value, "unknown value \(name.quoted())", at: start)
    }
    return known
  }
}

/// An effect that has not ended. It is a part of the state, so that it continues after a restart.
///
/// A class, because it passes through the state and several queues, and its values are expensive to copy.
final class PendingEffect: Codable, Identifiable, Sendable {
  /// The number of the effect within its store.
  let key: Int
  var id: Int { key }
  let effect: EffectDescription
  /// The time at which it began, in milliseconds since 1970.
  let since: Int

  init(key: Int, effect: EffectDescription, since: Int) {
    (self.key, self.effect, self.since) = (key, effect, since)
  }

  /// The id by which it is cancelled.
  var effectID: ByteString? { ByteString(effect.id) }
  var isRepeated: Bool { effect.type == .every }
  /// The approximate bytes of its values.
  var bytes: Int {
    let names = [effect.id, effect.name, effect.serial].reduce(256) { $0 + ($1?.utf8.count ?? 0) }
    return [effect.action, effect.arguments, effect.failed].reduce(names) {
      $0 + ($1?.bytes.count ?? 0)
    }
  }
}

extension PendingEffect: Hashable {
  static func == (one: PendingEffect, other: PendingEffect) -> Bool {
    one === other || (one.key, one.since, one.effect) == (other.key, other.since, other.effect)
  }

  func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
