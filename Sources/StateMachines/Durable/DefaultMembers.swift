// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// The values from which members are filled in that a persisted state lacks.
///
/// A member is filled in only if the decoder requires it: an optional member that is absent is nil,
/// whatever the initial state has. It is filled in from the first of these values that has it:
/// - the initial state, at the same path through objects. Elements of arrays have no such path.
/// - the values of `memberDefaults`, at their paths.
///
/// A member `type` names the case of an enum. It is never filled in, and the other members of an
/// object are filled in only from an object with the same `type`.
public struct DefaultMembers {
  private var templates: [Template] = []

  /// A value and the paths at which it is used.
  fileprivate struct Template {
    let pattern: [String]
    let value: JSONValue
  }

  /// Creates the defaults of a value from another value of its type.
  public init(_ value: some Encodable) throws(JSONError) {
    templates = [Template(pattern: [], value: try Self.value(value))]
  }

  /// Reads the initial state and the defaults of a machine.
  ///
  /// - Throws: `JSONError` if one of them cannot be encoded, or a path is not a JSON Pointer.
  init<Machine: DurableMachine>(of machine: Machine) throws(JSONError) {
    templates = [Template(pattern: [], value: try JSON.value(machine.initialState))]
    for (path, value) in machine.memberDefaults {
      do throws(JSONError) {
        templates.append(
          Template(pattern: try JSONPointer(parsing: path).tokens, value: try Self.value(value)))
      } catch {
        throw JSONError(
          error.code, "memberDefaults at \(path.quoted()): \(error.message)", path: error.path)
      }
    }
  }

  private static func value(_ value: some Encodable) throws(JSONError) -> JSONValue {
    try JSON.value(value)
  }

  /// Decodes a value, and fills in members that it lacks.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - value: The value as JSON.
  ///   - defaults: Returns the values from which members are filled in. It is called only if
  ///     the value cannot be decoded as it is; nil: nothing is filled in.
  /// - Throws: `JSONError` with the path into the value if it cannot be decoded.
  public static func decode<Value: Decodable>(
    _ type: Value.Type, from value: JSONValue,
    filling defaults: () throws(JSONError) -> DefaultMembers?
  ) throws(JSONError) -> Value {
    let first: JSONError
    do throws(JSONError) {
      return try JSON.decode(type, from: value, limits: .stored)
    } catch {
      first = error
    }
    guard let defaults = try defaults() else { throw first }
    var (value, error) = (value, first)
    // Each pass fills in a member that is required and was not there, at one path or at all paths
    // of one pattern, so the number of passes is at most the number of members in the defaults.
    while defaults.fill(error, in: &value) {
      do throws(JSONError) {
        return try JSON.decode(type, from: value, limits: .stored)
      } catch let next {
        error = next
      }
    }
    throw error
  }

  /// Fills in the member whose absence is an error of the decoder.
  ///
  /// - Returns: False if the error has another cause, or no default has the member.
  func fill(_ error: JSONError, in value: inout JSONValue) -> Bool {
    guard case .key(let key)? = error.path.last, key != "type" else { return false }
    let path = Array(error.path.dropLast())
    let present = value.at(error.path)
    // A member that was an optional may be null.
    guard error.code == .missing && present == nil || error.code == .type && present?.isNull == true
    else { return false }
    for template in templates {
      guard let rest = template.rest(of: path), let object = template.value.at(rest),
        let member = object[key], !member.isNull
      else { continue }
      let steps = template.pattern.map(Step.init) + rest.map { Step.token($0.token) }
      if value.set(key, to: member, steps[...], type: object["type"]) { return true }
    }
    return false
  }

  fileprivate enum Step {
    case token(String)
    case each

    init(_ token: String) { self = token == "*" ? .each : .token(token) }
  }
}

extension DefaultMembers.Template {
  /// Returns the part of a path after the pattern; nil if the path does not match, or if the rest
  /// leads into an array.
  func rest(of path: [JSONPathElement]) -> [JSONPathElement]? {
    guard path.count >= pattern.count,
      zip(pattern, path).allSatisfy({ $0 == "*" || $0 == $1.token })
    else { return nil }
    let rest = path.dropFirst(pattern.count)
    let isInObjects = rest.allSatisfy { if case .key = $0 { true } else { false } }
    return isInObjects ? Array(rest) : nil
  }
}

extension JSONValue {
  fileprivate func at(_ path: [JSONPathElement]) -> JSONValue? {
    var value = self
    for element in path {
      let next: JSONValue? =
        switch element {
        case .key(let key): value[key]
        case .index(let index): value[index]
        }
      guard let next else { return nil }
      value = next
    }
    return value
  }

  /// Sets a member of each object at a path that has the same `type` and lacks the member.
  ///
  /// - Returns: True if there was such an object.
  fileprivate mutating func set(
    _ key: String, to member: JSONValue, _ path: ArraySlice<DefaultMembers.Step>, type: JSONValue?
  ) -> Bool {
    switch (self, path.first) {
    case (.object(var members), nil):
      guard members["type"] == type, members[key]?.isNull ?? true else { return false }
      self = .null
      members[key] = member
      self = .object(members)
      return true
    case (.object(var members), .token(let token)):
      guard var value = members[token] else { return false }
      self = .null
      let isSet = value.set(key, to: member, path.dropFirst(), type: type)
      if isSet { members[token] = value }
      self = .object(members)
      return isSet
    case (.object(var members), .each):
      var isSet = false
      for (name, value) in Array(members) {
        var value = value
        guard value.set(key, to: member, path.dropFirst(), type: type) else { continue }
        members[name] = value
        isSet = true
      }
      if isSet { self = .object(members) }
      return isSet
    case (.array(var elements), .each):
      self = .null
      var isSet = false
      for index in elements.indices {
        if elements[index].set(key, to: member, path.dropFirst(), type: type) { isSet = true }
      }
      self = .array(elements)
      return isSet
    case (.array(var elements), .token(let token)):
      guard let index = Int(token), elements.indices.contains(index) else { return false }
      let isSet = elements[index].set(key, to: member, path.dropFirst(), type: type)
      if isSet { self = .array(elements) }
      return isSet
    default:
      return false
    }
  }
}
