// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

/// The values of a recording: what is secret is replaced, and what differs in each run gets a name or
/// a placeholder.
///
/// - Bound: `byteCount` grows with the number of identifiers and secrets; the caller ends the
///   recording when it is too large.
struct RecordedValues {
  private var secrets = SecretPlaceholders()
  /// Identifiers and times that clients have sent: they are the same in each run.
  private var sent: Set<String> = []
  /// The names of identifiers and handles.
  private var names: [String: String] = [:]
  private var counts: [String: Int] = [:]
  /// The names of stores and kinds, and the values of `type`, that clients have sent before they
  /// were secret: the file has them already, and the recording needs them.
  private var plain: Set<String> = []
  private var nameBytes = 0
  /// The names that the current message has introduced. Only later messages can have them in longer
  /// strings.
  private var newNames: Set<String> = []
  /// The names in the current message that no message gives a value.
  private(set) var givenNames: [String] = []

  /// The memory of identifiers and secrets, approximately.
  var byteCount: Int { secrets.byteCount + nameBytes }

  /// The own members of messages whose values are words of the protocol; secrets are not looked for
  /// there. Data of stores can have members with the same names.
  private static let words: Set<String> = [
    "change", "format", "hook", "jsonrpc", "method", "op", "operation", "phase", "reason", "role",
    "stage",
  ]

  /// Begins the next message.
  mutating func beginMessage() {
    newNames = []
    givenNames = []
  }
}

// MARK: - Sent values

extension RecordedValues {
  /// Returns a value that a client has sent, as the player sends it.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - rule: The part of the value that is secret.
  ///   - member: The member of the protocol whose value it is; nil for other data.
  mutating func sending(
    _ value: JSONValue, _ rule: ServerSecrets.Rule, in member: String? = nil
  ) -> Pattern {
    switch rule {
    case .everything: sendingSecret(value, isTagged: true)
    case .members(let secret): sending(value, secret, in: member)
    }
  }

  /// Returns a handle or a token that a client has sent.
  ///
  /// - Parameter kind: The start of its name, if no message has given it a value.
  mutating func sending(handle: String, kind: String) -> Pattern {
    if let name = names[handle] { return .named(name, nil) }
    let name = name(handle, kind)
    givenNames.append(name)
    return .named(name, nil)
  }

  /// Returns the name of a store or a kind that a client has sent, or the `type` of an input.
  ///
  /// - Parameter isPublic: True if the server describes the name.
  mutating func sending(name value: JSONValue, isPublic: Bool = false) -> Pattern {
    guard let name = value.string else { return sending(value, [], in: nil) }
    if !isPublic, !plain.contains(name), secrets.replacing(in: name) != nil {
      return sending(text: name, isWord: false)
    }
    if plain.insert(name).inserted { nameBytes += name.utf8.count + 64 }
    return sending(text: name, isWord: true)
  }

  private mutating func sending(
    _ value: JSONValue, _ secret: Set<String>, in member: String?
  ) -> Pattern {
    switch value {
    case .number(let number) where member == nil && secrets.contains(number):
      .literal(.number(number.placeholder))
    case .null, .bool, .number: .literal(value)
    case .string(let text): sending(text: text, isWord: Self.words.contains(member ?? ""))
    case .array(let elements): .array(elements.map { sending($0, secret, in: nil) })
    case .object(let members):
      .object(
        members.map { key, value in
          let pattern =
            secret.contains(key.lowercased())
            ? sendingSecret(value)
            : key == "type" ? sending(name: value) : sending(value, secret, in: nil)
          return Pattern.Member(key: secrets.replacing(in: key) ?? key, pattern: pattern)
        }, isOpen: false)
    }
  }

  private mutating func sending(text: String, isWord: Bool) -> Pattern {
    if let name = names[text] { return .named(name, nil) }
    if ChangingText.isUUID(text) || ChangingText.hasTime(text), sent.insert(text).inserted {
      nameBytes += text.utf8.count + 64
    }
    let shown = isWord ? nil : secrets.replacing(in: text)
    return withNames(shown ?? text)
  }

  /// - Parameter isTagged: True if the member `type` names a case and is not secret.
  private mutating func sendingSecret(_ value: JSONValue, isTagged: Bool = false) -> Pattern {
    switch value {
    case .null: return .literal(value)
    case .bool: return .literal(false)
    case .number(let number):
      secrets.note("\(value)")
      return .literal(.number(number.placeholder))
    case .string(let text): return .literal(.string(secrets.placeholder(for: text)))
    case .array(let elements): return .array(elements.map { sendingSecret($0) })
    case .object(let members):
      return .object(
        members.map { key, value in
          if isTagged, key == "type", let tag = value.string, Self.isName(tag) {
            return Pattern.Member(key: key, pattern: sending(name: value))
          }
          return Pattern.Member(
            key: isTagged && Self.isName(key) ? key : secrets.placeholder(forKey: key),
            pattern: sendingSecret(value))
        }, isOpen: false)
    }
  }

  private static func isName(_ text: String) -> Bool {
    let isName = { LineCursor.isLetter($0) || LineCursor.isDigit($0) || $0 == UInt8(ascii: "_") }
    return (1...40).contains(text.utf8.count) && text.utf8.allSatisfy(isName)
  }
}

// MARK: - Expected values

extension RecordedValues {
  /// Returns a value of the server, as the player expects it.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - rule: The part of the value that is secret.
  ///   - member: The member of the protocol whose value it is; nil for other data.
  mutating func expecting(
    _ value: JSONValue, _ rule: ServerSecrets.Rule, in member: String? = nil
  ) -> Pattern {
    switch rule {
    case .everything: expectingSecret(value)
    case .members(let secret): expecting(value, secret, in: member)
    }
  }

  /// Returns true if the name of a store contains a secret; a key cannot be a placeholder.
  func hides(name: String) -> Bool { !plain.contains(name) && secrets.replacing(in: name) != nil }

  /// Returns a new handle of the server, which gets a name.
  mutating func expecting(handle: String) -> Pattern {
    if let name = names[handle] { return .named(name, nil) }
    return .named(name(handle, "session"), .string)
  }

  /// Returns the operations of a patch; a secret is a value at or below a secret member.
  mutating func expecting(patch: JSONValue, _ rule: ServerSecrets.Rule) -> Pattern {
    guard case .members(let secret) = rule, let operations = patch.array else {
      return expectingSecret(patch)
    }
    return .array(operations.map { expecting(operation: $0, secret) })
  }

  private mutating func expecting(operation: JSONValue, _ secret: Set<String>) -> Pattern {
    guard var members = operation.object, let value = members["value"],
      let pointer = members["path"]?.string.flatMap({ try? JSONPointer(parsing: $0) })
    else { return expecting(operation, secret, in: nil) }
    let isSecret = pointer.tokens.contains { secret.contains($0.lowercased()) }
    let pattern = isSecret ? expectingSecret(value) : expecting(value, secret, in: nil)
    _ = members.removeValue(forKey: "value")
    let others = members.map { key, value in
      Pattern.Member(key: key, pattern: expecting(value, secret, in: key))
    }
    return .object(others + [Pattern.Member(key: "value", pattern: pattern)], isOpen: false)
  }

  private mutating func expecting(
    _ value: JSONValue, _ secret: Set<String>, in member: String?
  ) -> Pattern {
    switch value {
    case .number(let number) where member == nil && secrets.contains(number):
      return .anything(.number)
    case .null, .bool, .number: return .literal(value)
    case .string(let text): return expecting(text: text, in: member)
    case .array(let elements): return .array(elements.map { expecting($0, secret, in: nil) })
    case .object(let object):
      var members: [Pattern.Member] = []
      var isOpen = false
      for (key, value) in object {
        let pattern =
          secret.contains(key.lowercased())
          ? expectingSecret(value) : expecting(value, secret, in: nil)
        // A key cannot be a placeholder.
        if isChanging(key) || withNames(key) != .literal(.string(key))
          || secrets.replacing(in: key) != nil
        {
          isOpen = true
        } else {
          members.append(Pattern.Member(key: key, pattern: pattern))
        }
      }
      return .object(members, isOpen: isOpen)
    }
  }

  private mutating func expecting(text: String, in member: String?) -> Pattern {
    if let name = names[text] { return .named(name, nil) }
    if sent.contains(text) { return .literal(.string(text)) }
    let isWord = Self.words.contains(member ?? "")
    let isName = member == "store" && plain.contains(text)
    if !isWord, !isName, secrets.replacing(in: text) != nil {
      return .anything(.string)
    }
    if ChangingText.isUUID(text) { return .named(name(text, "id"), nil) }
    return isChanging(text) ? .anything(.string) : withNames(text)
  }

  /// Returns true if a text has a time or an unknown identifier that no client has sent.
  private func isChanging(_ text: String) -> Bool {
    if sent.contains(text) { return false }
    let isUnknown = { (part: (text: String, isUUID: Bool)) in
      part.isUUID && names[part.text].map(newNames.contains) != false && !sent.contains(part.text)
    }
    return ChangingText.hasTime(text) || ChangingText.parts(of: text).contains(where: isUnknown)
  }

  private mutating func expectingSecret(_ value: JSONValue) -> Pattern {
    switch value {
    case .null: return .literal(value)
    case .string(""): return .literal("")
    case .string(let text):
      if let placeholder = secrets.known(text) { return .literal(.string(placeholder)) }
      secrets.note(text)
      return .anything(.string)
    case .number:
      secrets.note("\(value)")
      return .anything(.number)
    case .bool: return .anything(.boolean)
    case .array(let elements):
      for element in elements { _ = expectingSecret(element) }
      return .anything(.array)
    case .object(let members):
      for (_, member) in members { _ = expectingSecret(member) }
      return .anything(.object)
    }
  }
}

// MARK: - Names

extension RecordedValues {
  private mutating func name(_ text: String, _ kind: String) -> String {
    counts[kind, default: 0] += 1
    let name = "\(kind)\(counts[kind, default: 0])"
    names[text] = name
    newNames.insert(name)
    // Identifiers are not secret, but handles and tokens are.
    if kind != "id" { secrets.note(text) }
    nameBytes += text.utf8.count + name.utf8.count + 64
    return name
  }

  /// Returns a text with the names of the identifiers in it.
  private func withNames(_ text: String) -> Pattern {
    let parts = ChangingText.parts(of: text).map { part in
      names[part.text].map { Pattern.TextPart.named($0) } ?? .literal(part.text)
    }
    let hasNames = parts.contains { if case .named = $0 { true } else { false } }
    return hasNames ? .text(parts) : .literal(.string(text))
  }
}
