// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// Writes a model as a TypeScript module: types, and for each kind a constant, constructors of
/// inputs, and its entry in the list of kinds of the JavaScript client.
struct TypeScriptWriter {
  let model: TypeModel
  let clientModule: String

  func text() -> String {
    var parts = [header]
    if usesJSON {
      parts.append(
        "/** A value of JSON. */\nexport type Json =\n  | null\n  | boolean\n  | number\n"
          + "  | string\n  | Json[]\n  | { [member: string]: Json };\n")
    }
    for (name, format) in model.formats {
      parts.append(
        blockComment("A string of the format \(format).") + "export type \(name) = string;\n")
    }
    parts += model.declarations.map(declaration)
    if let whole = model.whole {
      parts += tables(whole)
    } else {
      for kind in model.kinds { parts += self.kind(kind) }
      parts += augmentation()
    }
    return parts.joined(separator: "\n")
  }

  private var header: String {
    let licence = model.whole == nil ? "" : "// SPDX-License-Identifier: Apache-2.0\n"
    let isAugmenting = model.whole == nil && !augmentingKinds.isEmpty
    return licence + "// \(TypeModel.origin)\n"
      + (isAugmenting ? "\nimport type {} from \(clientModule.jsonLiteral);\n" : "")
  }

  private var usesJSON: Bool {
    model.whole != nil || model.hasAny
      || model.declarations.contains {
        if case .object(let members, isClosed: false) = $0.shape { members.isEmpty } else { false }
      }
  }

  // MARK: - Declarations

  private func declaration(_ declaration: TypeDeclaration) -> String {
    let comment = blockComment(declaration.wholeDescription)
    let name = declaration.name
    switch declaration.shape {
    case .object(let members, let isClosed):
      if members.isEmpty {
        let type = isClosed ? "Record<string, never>" : "{ [member: string]: Json }"
        return "\(comment)export type \(name) = \(type);\n"
      }
      return "\(comment)export interface \(name) \(body(members))\n"
    case .taggedUnion(let tag, let cases):
      let interfaces = cases.map { one in
        let tag = "  \(key(tag)): \(one.value.jsonLiteral);\n"
        return blockComment(one.description)
          + "export interface \(one.name) \(body(one.members, tag: tag))\n\n"
      }
      return interfaces.joined() + comment + alias(name, cases.map(\.name))
    case .union(let alternatives):
      return comment + alias(name, alternatives.map { type($0.type) })
    case .values(let values):
      return comment + alias(name, values.map(\.value.literal))
    case .alias(let type):
      return "\(comment)export type \(name) = \(self.type(type));\n"
    }
  }

  private func body(_ members: [TypeDeclaration.Member], tag: String = "") -> String {
    let lines = members.map { member in
      blockComment(member.description, indent: 2)
        + "  \(key(member.key))\(member.isRequired ? "" : "?"): \(type(member.type));\n"
    }
    return "{\n\(tag)\(lines.joined())}"
  }

  private func alias(_ name: String, _ alternatives: [String]) -> String {
    let line = "export type \(name) = \(alternatives.joined(separator: " | "));\n"
    if line.utf8.count <= 101 { return line }
    return "export type \(name) =\n"
      + alternatives.map { "  | \($0)" }.joined(separator: "\n") + ";\n"
  }

  private func key(_ key: String) -> String {
    key.isIdentifier && key.utf8.allSatisfy { $0 < 0x80 } ? key : key.jsonLiteral
  }

  // MARK: - Types

  private func type(_ type: TypeExpression) -> String {
    switch type {
    case .any: "Json"
    case .null: "null"
    case .boolean: "boolean"
    case .integer, .number: "number"
    case .string(let format): format.flatMap(alias(of:)) ?? "string"
    case .literal(let value): "\(value.literal)"
    case .either(let types): types.map { self.type($0) }.uniqued.joined(separator: " | ")
    case .array(let element): "\(inBrackets(element))[]"
    case .map(let value): "{ [key: string]: \(self.type(value)) }"
    case .optional(let inner): "\(self.type(inner)) | null"
    case .named(let index): model.declarations[index].name
    }
  }

  private func alias(of format: String) -> String? {
    model.formats.first { $0.format == format }?.name
  }

  private func inBrackets(_ type: TypeExpression) -> String {
    switch type {
    case .optional, .either: "(\(self.type(type)))"
    default: self.type(type)
    }
  }

  // MARK: - Kinds

  private func kind(_ kind: TypeModel.Kind) -> [String] {
    let quoted = kind.name.jsonLiteral
    let title = kind.name.insideBlockComment.printable
    let name = kind.prefix.uncapitalisedFirst
    var parts = [
      blockComment(kind.description ?? "The name of the kind \"\(title)\".")
        + "export const \(name)Kind = \(quoted);\n",
      """
      /** The types of the kind "\(title)": `client.store<\(kind.prefix)Types>(…)`. */
      export interface \(kind.prefix)Types {
        input: \(type(kind.input));
        state: \(type(kind.state));
        event: \(kind.event.map { type($0) } ?? "never");
        config: \(type(kind.configuration));
      }

      """,
    ]
    if let (tag, cases) = model.cases(of: kind.input) {
      let inputs = TypeScriptInputs(model: model, type: type, key: key)
      parts.append(
        "/** Creates inputs of the kind \"\(title)\". */\nexport const \(name)Inputs = {\n"
          + inputs.text(cases, tag: tag) + "};\n")
    }
    return parts
  }

  /// Kinds that the client declares itself.
  private static let declaredByClient: Set<String> = [
    "todo", "addTodo", "form", "balance", "loading",
  ]

  /// The kinds whose types the list of the client can have: it requires inputs with a tag.
  private var augmentingKinds: [TypeModel.Kind] {
    if clientModule.isEmpty { return [] }
    return model.kinds.filter { !Self.declaredByClient.contains($0.name) && hasTag($0.input) }
  }

  private func hasTag(_ type: TypeExpression) -> Bool {
    var seen: Set<Int> = []
    return hasTag(type, &seen)
  }

  /// - Parameter seen: The declarations that have been looked at: a union can contain itself.
  private func hasTag(_ type: TypeExpression, _ seen: inout Set<Int>) -> Bool {
    guard case .named(let index) = type else { return false }
    guard seen.insert(index).inserted else { return true }
    switch model.declarations[index].shape {
    case .taggedUnion(let tag, _): return tag == "type"
    case .object(let members, _):
      return members.contains { member in
        guard member.key == "type", member.isRequired else { return false }
        switch member.type {
        case .string, .literal(.string): return true
        default: return false
        }
      }
    case .union(let alternatives): return alternatives.allSatisfy { hasTag($0.type, &seen) }
    case .alias(let type): return hasTag(type, &seen)
    case .values: return false
    }
  }

  private func augmentation() -> [String] {
    let lines = augmentingKinds.map { "    \(key($0.name)): \($0.prefix)Types;\n" }
    if lines.isEmpty { return [] }
    return [
      "// `client.store(name)` of the JavaScript client knows the types of these kinds.\n"
        + "declare module \(clientModule.jsonLiteral) {\n  interface StoreKinds {\n"
        + lines.joined() + "  }\n}\n"
    ]
  }

  // MARK: - The protocol

  private func tables(_ whole: TypeModel.Whole) -> [String] {
    let kinds = model.kinds.map { kind in
      "\(key(kind.name)): { config: \(type(kind.configuration)); input: \(type(kind.input));"
        + " viewState: \(type(kind.state)); event: \(kind.event.map { type($0) } ?? "never") }"
    }
    let methods = whole.methods.map {
      "\(key($0.name)): { params: \(type($0.params)); result: \(type($0.result)) }"
    }
    let notifications = whole.notifications.map { "\(key($0.name)): \(type($0.params))" }
    let errors = whole.errors.map {
      "\(key($0.name)): { code: \($0.code); data: \($0.data.map { type($0) } ?? "undefined") }"
    }
    return [
      table(
        "The types of each store kind: configuration, inputs, view state and events.", "Stores",
        kinds),
      table("The params and the result of each method.", "Methods", methods),
      table("The params of each notification.", "Notifications", notifications),
      table("The number of each error, and its data.", "Errors", errors),
    ]
  }

  private func table(_ comment: String, _ name: String, _ lines: [String]) -> String {
    "/** \(comment) */\nexport interface \(name) {\n" + lines.map { "  \($0);\n" }.joined() + "}\n"
  }
}

extension JSONValue {
  /// The value as a literal of JavaScript and JSON.
  var literal: String {
    if case .string(let text) = self { text.jsonLiteral } else { "\(self)" }
  }
}

extension Sequence where Element: Hashable {
  /// The elements without repetitions.
  var uniqued: [Element] {
    var seen: Set<Element> = []
    return filter { seen.insert($0).inserted }
  }
}
