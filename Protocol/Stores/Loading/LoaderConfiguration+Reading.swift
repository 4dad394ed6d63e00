// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

extension LoaderConfiguration: Decodable, JSONReadable {
  /// Decodes a tree with a decoder of another module.
  ///
  /// - Throws: `JSONError` with the path of the fault.
  public init(from decoder: any Decoder) throws {
    let value = try JSONValue(from: decoder)
    self = try JSON.decode(LoaderConfiguration.self, from: value)
  }

  /// Reads a tree, or `{}` for the demonstration.
  ///
  /// - Throws: `JSONError` with the path of the fault.
  public init(reading reader: inout JSONReader) throws(JSONError) {
    var empty = reader
    try empty.beginObject()
    if try empty.nextKey() == nil {
      self = .demonstration
      reader = empty
      return
    }
    var reading = TreeReading()
    self = try reading.node(&reader)
  }

  /// The tree for an empty configuration: a demonstration that takes two seconds.
  public static let demonstration = LoaderConfiguration.mock(states: [
    MockState(.loading(progress: LoadingProgress(percent: 0))),
    MockState(after: .seconds(1), .loading(progress: LoadingProgress(percent: 50))),
    MockState(after: .seconds(1), .loaded(value: LoadedValue(text: "Loaded"))),
  ])
}

/// The state of reading one tree, with the parts of the limits already used.
private struct TreeReading {
  private typealias Tree = LoaderConfiguration

  private var depth = 0
  private var nodes = 0
  private var mockStates = 0
  private var playedStates = 0
  /// The product of the attempts of all retries around the current node.
  private var attempts = 1

  mutating func node(_ reader: inout JSONReader) throws(JSONError) -> LoaderConfiguration {
    let start = reader.nextValueOffset()
    nodes += 1
    guard nodes <= Tree.maximumNodes else {
      throw reader.error(.limit, "a tree has at most \(Tree.maximumNodes) nodes", at: start)
    }
    guard depth < Tree.maximumDepth else {
      throw reader.error(.limit, "a tree has at most \(Tree.maximumDepth) levels", at: start)
    }
    depth += 1
    defer { depth -= 1 }
    let members = try NodeMembers(reading: &reader)
    switch members.type {
    case "source":
      return .source(name: try members.name("name"))
    case "mock":
      return .mock(states: try mockStates(members))
    case "debounce":
      return .debounce(
        interval: try members.timeIfPresent("interval") ?? Tree.debounceInterval,
        executeFirstImmediately: try members.boolIfPresent("executeFirstImmediately") ?? false,
        of: try inner(members))
    case "retry":
      return try retry(members)
    case "timeout":
      return .timeout(interval: try members.time("interval"), of: try inner(members))
    case "cache":
      return .cache(
        key: try members.name("key"), ttl: try members.time("ttl"), of: try inner(members))
    case "concurrencyLimit":
      return .concurrencyLimit(limit: try members.count("limit"), of: try inner(members))
    case "all":
      return .all(of: try several(members))
    case "sequence":
      return .sequence(of: try several(members))
    default:
      throw members.unknownType()
    }
  }

  private mutating func inner(_ members: NodeMembers) throws(JSONError) -> LoaderConfiguration {
    var reader = try members.member("of")
    return try node(&reader)
  }

  private mutating func several(_ members: NodeMembers) throws(JSONError) -> [LoaderConfiguration] {
    var reader = try members.member("of")
    let start = reader.nextValueOffset()
    var inner: [LoaderConfiguration] = []
    try reader.beginArray()
    while try reader.nextElement() { inner.append(try node(&reader)) }
    guard !inner.isEmpty else {
      throw reader.error(.value, "the array must not be empty", at: start)
    }
    return inner
  }

  private mutating func retry(_ members: NodeMembers) throws(JSONError) -> LoaderConfiguration {
    let maxAttempts = try members.count("maxAttempts")
    let outer = attempts
    let (product, overflow) = outer.multipliedReportingOverflow(by: maxAttempts)
    guard !overflow, product <= Tree.maximumAttempts else {
      throw try members.error(
        .limit, "a tree has at most \(Tree.maximumAttempts) attempts in total", at: "maxAttempts")
    }
    attempts = product
    defer { attempts = outer }
    return .retry(
      maxAttempts: maxAttempts, backoff: try backoff(members), of: try inner(members))
  }

  private func backoff(_ members: NodeMembers) throws(JSONError) -> Tree.RetryBackoff {
    var backoff = Tree.RetryBackoff()
    guard var reader = try members.memberIfPresent("backoff") else { return backoff }
    try reader.beginObject()
    while let key = try reader.nextKey() {
      let start = reader.nextValueOffset()
      let isNull = try reader.readNullIfPresent()
      switch key {
      case _ where isNull: break
      case "type":
        let type = try reader.readStringBytes()
        guard type == "exponential" else { throw reader.unknown(type) }
      case "base": backoff.base = try reader.read(Seconds.self).duration
      case "factor":
        backoff.factor = try reader.readDouble()
        guard backoff.factor >= 0 else {
          throw reader.error(.value, "the factor must be at least 0", at: start)
        }
      case "max": backoff.max = try reader.read(Seconds.self).duration
      default: try reader.skipValue()
      }
    }
    return backoff
  }

  private mutating func mockStates(_ members: NodeMembers) throws(JSONError) -> [Tree.MockState] {
    var reader = try members.member("states")
    let start = reader.nextValueOffset()
    var states: [Tree.MockState] = []
    try reader.beginArray()
    while try reader.nextElement() {
      mockStates += 1
      guard mockStates <= Tree.maximumMockStates else {
        throw reader.error(.limit, "a tree has at most \(Tree.maximumMockStates) states")
      }
      playedStates += attempts
      guard playedStates <= Tree.maximumPlayedStates else {
        throw reader.error(
          .limit, "a tree plays at most \(Tree.maximumPlayedStates) states, all attempts together")
      }
      states.append(try mockState(&reader))
    }
    guard !states.isEmpty else {
      throw reader.error(.value, "the array must not be empty", at: start)
    }
    return states
  }

  private func mockState(_ reader: inout JSONReader) throws(JSONError) -> Tree.MockState {
    var after: JSONReader?
    var state: JSONReader?
    try reader.beginObject()
    while let key = try reader.nextKey() {
      switch key {
      case "after": after = reader
      case "state": state = reader
      default: break
      }
      try reader.skipValue()
    }
    guard var state else { throw reader.missing("state") }
    let start = state.nextValueOffset()
    let played: LoadingViewState = try state.read()
    if case .loaded(let value) = played, !value.fits {
      throw reader.error(
        .depth, "a value nests at most \(LoadedValue.maximumDepth) levels deep", at: start)
    }
    return Tree.MockState(after: try after?.readIfPresent(Seconds.self)?.duration ?? .zero, played)
  }
}

extension LoadedValue {
  /// True if it nests no deeper than an external value may.
  fileprivate var fits: Bool { (try? LoadedValue(json: text)) != nil }
}

/// The members of one node, each with a reader at its position in the text, so that errors have
/// correct paths.
private struct NodeMembers {
  let type: JSONKey
  private let afterType: JSONReader
  private let end: JSONReader
  /// The members that any type of node has; the last of several members with the same key counts.
  private var members: [String: JSONReader] = [:]

  init(reading reader: inout JSONReader) throws(JSONError) {
    var type: JSONReader?
    try reader.beginObject()
    while let key = try reader.nextKey() {
      switch key {
      case "type": type = reader
      case "name", "states", "interval", "executeFirstImmediately", "maxAttempts", "backoff", "key",
        "ttl", "limit", "of":
        members[key.string] = reader
      default: break
      }
      try reader.skipValue()
    }
    end = reader
    guard var type else { throw reader.missing("type") }
    self.type = try type.readStringBytes()
    afterType = type
  }

  func unknownType() -> JSONError { afterType.unknown(type) }

  func error(
    _ code: JSONError.Code, _ message: String, at key: StaticString
  ) throws(JSONError) -> JSONError {
    var reader = try member(key)
    let start = reader.nextValueOffset()
    return reader.error(code, message, at: start)
  }

  /// Returns a reader before the value of a member.
  ///
  /// - Throws: `missing` if the node has no such member.
  func member(_ key: StaticString) throws(JSONError) -> JSONReader {
    guard let found = found(key) else { throw end.missing(key) }
    return found
  }

  /// Returns a reader before the value of a member; nil if the member is null or absent.
  func memberIfPresent(_ key: StaticString) throws(JSONError) -> JSONReader? {
    guard var reader = found(key) else { return nil }
    let start = reader
    return try reader.readNullIfPresent() ? nil : start
  }

  private func found(_ key: StaticString) -> JSONReader? { members["\(key)"] }

  func time(_ key: StaticString) throws(JSONError) -> Duration {
    var reader = try member(key)
    return try reader.read(Seconds.self).duration
  }

  func timeIfPresent(_ key: StaticString) throws(JSONError) -> Duration? {
    var reader = try memberIfPresent(key)
    return try reader?.read(Seconds.self).duration
  }

  func boolIfPresent(_ key: StaticString) throws(JSONError) -> Bool? {
    var reader = try memberIfPresent(key)
    return try reader?.readBool()
  }

  /// Reads a whole number of at least 1.
  func count(_ key: StaticString) throws(JSONError) -> Int {
    var reader = try member(key)
    let start = reader.nextValueOffset()
    let count = try reader.readInt()
    guard count >= 1 else { throw reader.error(.value, "the number must be at least 1", at: start) }
    return count
  }

  /// Reads a string of 1 to `maximumNameBytes` bytes.
  func name(_ key: StaticString) throws(JSONError) -> String {
    var reader = try member(key)
    let start = reader.nextValueOffset()
    let name = try reader.readString()
    let maximum = LoaderConfiguration.maximumNameBytes
    guard (1...maximum).contains(name.utf8.count) else {
      throw reader.error(.value, "the name must have 1 to \(maximum) bytes", at: start)
    }
    return name
  }
}
