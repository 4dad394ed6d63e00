// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The result of `machine/describe`.
struct ProgramDescription: Sendable {
  var version = 1
  var configuration: JSONSchema?
  var input: JSONSchema?
  var viewState: JSONSchema?
  var event: JSONSchema?
  var viewKey: ViewKey?
  var watchesViewers = false
  /// True if no store has a view.
  var showsState = false

  /// The description of a program that has not described itself.
  static let unknown = ProgramDescription()

  private init() {}

  /// Reads the result.
  ///
  /// - Throws: `JSONError` if it is not one, or of another version of the protocol.
  init(_ text: UnsafeRawBufferPointer) throws(JSONError) {
    let value = try JSONValue(parsing: text)
    guard value["protocol"]?.int == 1 else {
      throw JSONError(.value, "protocol must be 1", path: [.key("protocol")])
    }
    if let version = value["version"], !version.isNull {
      guard let number = version.int, number >= 1 else {
        throw JSONError(.value, "version must be a positive integer", path: [.key("version")])
      }
      self.version = number
    }
    func schema(_ name: String) throws(JSONError) -> JSONSchema? {
      switch value["schemas"]?[name] {
      case nil, .null?: return nil
      case .object(let keywords)?: return JSONSchema(keywords)
      default:
        throw JSONError(.type, "a schema is an object", path: [.key("schemas"), .key(name)])
      }
    }
    configuration = try schema("configuration")
    input = try schema("input")
    viewState = try schema("viewState")
    event = try schema("event")
    if let key = value["viewsBy"], !key.isNull {
      guard let known = key.string.flatMap(ViewKey.init) else {
        throw JSONError(
          .value, "viewsBy must be identity, frontend or role", path: [.key("viewsBy")])
      }
      viewKey = known
    }
    func flag(_ name: String) throws(JSONError) -> Bool {
      guard let flag = value[name], !flag.isNull else { return false }
      guard let flag = flag.bool else {
        throw JSONError(.type, "\(name) is a Boolean", path: [.key(name)])
      }
      return flag
    }
    watchesViewers = try flag("watchesViewers")
    showsState = try flag("showsState")
  }
}

extension ProgramDescription {
  /// Checks that views fit their schema.
  func check(views: [VersionedValue]) throws(JSONError) {
    guard let viewState else { return }
    for view in views { try Self.check(view.value.json, viewState, "view state") }
  }

  /// Checks that events fit their schema.
  func check(events: [ProcessEvent]) throws(JSONError) {
    guard let schema = event else { return }
    for each in events { try Self.check(JSONValue(parsing: each.event.bytes), schema, "event") }
  }

  private static func check(
    _ value: JSONValue, _ schema: JSONSchema, _ name: String
  ) throws(JSONError) {
    do throws(JSONError) {
      try schema.check(value)
    } catch {
      throw JSONError(
        error.code, "the \(name) does not fit its schema: \(error.message)", path: error.path)
    }
  }
}
