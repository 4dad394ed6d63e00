// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// Writes a model as a Swift file for the Swift client: `Codable` structures and enums, and a
/// constant for each kind. The cases of an input are its constructors.
struct SwiftWriter {
  let model: TypeModel

  func text() -> String {
    var parts = [
      (model.whole == nil ? "" : "// SPDX-License-Identifier: Apache-2.0\n")
        + "// \(TypeModel.origin)\n// swift-format-ignore-file\n\npublic import StatewireClient\n"
    ]
    parts += model.declarations.indices.map(declaration)
    if model.whole == nil { parts += model.kinds.map(kind) }
    return parts.joined(separator: "\n")
  }

  private func kind(_ kind: TypeModel.Kind) -> String {
    let (input, state) = (type(kind.input), type(kind.state))
    return """
      extension Kind where Input == \(input), State == \(state) {
      \(comment(kind.description ?? "The kind \"\(kind.name)\".", indent: 2))\
        public static var \(safe(identifier(kind.prefix.uncapitalisedFirst))): Kind { Kind(\(literal(kind.name))) }
      }

      """ + opening(kind)
  }

  /// Returns a function that opens a store with a configuration, if the kind has one.
  private func opening(_ kind: TypeModel.Kind) -> String {
    guard !model.isEmpty(kind.configuration) else { return "" }
    let (input, state) = (type(kind.input), type(kind.state))
    return """

      extension Client {
        /// Opens a store of the kind with a configuration, and subscribes to it.
        public func open(
          _ kind: Kind<\(input), \(state)>, name: String? = nil, config: \(type(kind.configuration))
        ) async throws -> RemoteStore<\(input), \(state)> {
          try await open(kind, name: name, config: JSON.value(config))
        }
      }

      """
  }

  // MARK: - Declarations

  private func declaration(_ index: Int) -> String {
    let declaration = model.declarations[index]
    let comment = comment(declaration.description)
    let name = declaration.name
    switch declaration.shape {
    case .object(let members, _):
      return comment
        + (model.isDirectlyRecursive(index)
          ? SwiftObject(members, self).finalClass(name)
          : SwiftObject(members, self).structure(name))
    case .taggedUnion(let tag, let cases):
      return comment
        + SwiftUnion(cases, tag: tag, self).text(name, isRecursive: model.isRecursive(index))
    case .union(let alternatives): return comment + union(name, alternatives, index)
    case .values(let values): return comment + enumeration(name, values)
    case .alias(let type):
      let type = model.isRecursiveAlias(index) ? "JSONValue" : self.type(type)
      return "\(comment)public typealias \(name) = \(type)\n"
    }
  }

  private func union(
    _ name: String, _ alternatives: [TypeDeclaration.Alternative], _ index: Int
  ) -> String {
    let cases = alternatives.map { one in
      (name: safe(identifier(one.label.uncapitalisedFirst)), type: type(one.type))
    }
    let attempts = model.mostSpecificFirst(alternatives).map { one in
      "    if let value = try? container.decode(\(type(one.type)).self) {\n"
        + "      self = .\(safe(identifier(one.label.uncapitalisedFirst)))(value)\n      return\n    }\n"
    }
    let declared = cases.map { "  case \($0.name)(\($0.type))\n" }
    let written = cases.map { "    case .\($0.name)(let value): try container.encode(value)\n" }
    return """
      public \(model.isRecursive(index) ? "indirect " : "")enum \(name): Codable, Equatable, Sendable {
      \(declared.joined())
        public init(from decoder: any Decoder) throws {
          let container = try decoder.singleValueContainer()
      \(attempts.joined())\
          throw DecodingError.dataCorruptedError(
            in: container, debugDescription: "no alternative of \(name) fits")
        }

        public func encode(to encoder: any Encoder) throws {
          var container = encoder.singleValueContainer()
          switch self {
      \(written.joined())    }
        }
      }

      """
  }

  private func enumeration(_ name: String, _ values: [TypeDeclaration.Value]) -> String {
    let isText = values.allSatisfy { $0.value.string != nil }
    guard isText || values.allSatisfy({ $0.value.int != nil }) else {
      return "public typealias \(name) = JSONValue\n"
    }
    var names = UniqueNames()
    let cases = values.map { one in
      let word = one.value.string ?? "value\(one.value.description.replacingMinus)"
      let name = names.unique(identifier(word))
      let raw =
        one.value.string.map { $0 == name ? "" : " = \(literal($0))" } ?? " = \(one.value)"
      return comment(one.description, indent: 2) + "  case \(safe(name))\(raw)\n"
    }
    return "public enum \(name): \(isText ? "String" : "Int"), Codable, CaseIterable, Sendable {\n"
      + cases.joined() + "}\n"
  }

  // MARK: - Types

  func type(_ type: TypeExpression) -> String {
    switch type {
    case .any, .null, .either: "JSONValue"
    case .boolean, .literal(.bool): "Bool"
    case .integer, .literal(.number): "Int"
    case .number: "Double"
    case .string, .literal: "String"
    case .array(let element): "[\(self.type(element))]"
    case .map(let value): "[String: \(self.type(value))]"
    case .optional(let inner): "\(self.type(inner))?"
    case .named(let index): model.declarations[index].name
    }
  }

  /// Returns the type of a member, which is optional if the member may be absent.
  func type(of member: TypeDeclaration.Member) -> String {
    type(member.isRequired ? member.type : member.type.withNull)
  }

  // MARK: - Text

  func comment(_ text: String?, indent: Int = 0) -> String {
    let spaces = String(repeating: " ", count: indent)
    return (text?.commentLines ?? []).map { line in
      line.isEmpty ? "\(spaces)///\n" : "\(spaces)/// \(line)\n"
    }.joined()
  }

  /// Returns a string literal.
  func literal(_ text: String) -> String {
    var literal = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": literal += "\\\""
      case "\\": literal += "\\\\"
      case _ where scalar.properties.generalCategory == .control,
        _ where scalar.properties.generalCategory == .lineSeparator,
        _ where scalar.properties.generalCategory == .paragraphSeparator:
        literal += "\\u{\(String(scalar.value, radix: 16))}"
      default: literal.unicodeScalars.append(scalar)
      }
    }
    return literal + "\""
  }

  /// Returns the name of a member, a case or a field; some names cannot be used even in backticks.
  func identifier(_ text: String) -> String {
    let name = text.memberName
    return ["self", "Self", "init", "Type", "Protocol", "allCases"].contains(name)
      ? name + "_" : name
  }

  /// Returns a name, in backticks if it is a keyword.
  func safe(_ name: String) -> String { Self.keywords.contains(name) ? "`\(name)`" : name }

  private static let keywords: Set<String> = [
    "Any", "as", "associatedtype", "break", "case", "catch", "class", "continue", "default",
    "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate",
    "for", "func", "guard", "if", "import", "in", "inout", "internal", "is", "let", "nil",
    "operator", "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return",
    "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try",
    "typealias", "var", "where", "while",
  ]
}

extension TypeExpression {
  /// The type with null, so that an absent member has a value.
  fileprivate var withNull: TypeExpression {
    switch self {
    case .optional: self
    default: .optional(self)
    }
  }
}
