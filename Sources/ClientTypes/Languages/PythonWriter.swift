// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// Writes a model as a Python module: `TypedDict` classes and aliases, and for each kind a constant
/// and constructors of inputs.
///
/// The text is for Python 3.10: an object with optional members is two classes, because
/// `NotRequired` needs Python 3.11.
struct PythonWriter {
  let model: TypeModel

  func text() -> String {
    var classes: [String] = []
    var aliases: [String] = []
    var known: Set<Int> = []
    for (index, declaration) in model.declarations.enumerated() where !isAlias(declaration) {
      classes.append(objectClass(declaration))
      known.insert(index)
    }
    for declaration in model.declarations {
      if case .taggedUnion(let tag, let cases) = declaration.shape {
        classes += cases.map {
          self.class($0.name, $0.members, tag: (tag, $0.value), $0.description)
        }
      }
    }
    // An alias follows those that it names; only aliases that contain themselves have quotes.
    var waiting = model.declarations.indices.filter { isAlias(model.declarations[$0]) }
    while !waiting.isEmpty {
      let next = waiting.first { namesInAlias(model.declarations[$0]).allSatisfy(known.contains) }
      let index = next ?? waiting[0]
      aliases.append(alias(model.declarations[index], isQuoted: next == nil))
      known.insert(index)
      waiting.removeAll { $0 == index }
    }
    for (name, format) in model.formats {
      aliases.insert("#: A string of the format \(format).\n\(name): TypeAlias = str\n", at: 0)
    }
    var parts = classes.map { "\n\($0)" }
    if !aliases.isEmpty { parts.append("\n" + aliases.joined()) }
    if let whole = model.whole {
      parts.append(errors(whole))
    } else {
      parts += model.kinds.flatMap(kind)
    }
    let body = parts.joined(separator: "\n")
    return header(for: body) + "\n" + body
  }

  private func header(for body: String) -> String {
    let words = Set(
      body.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init))
    let used = ["Any", "Literal", "TypeAlias", "TypedDict"].filter(words.contains)
    return (model.whole == nil ? "" : "# SPDX-License-Identifier: Apache-2.0\n")
      + docstring(TypeModel.origin) + "\n\nfrom __future__ import annotations\n\n"
      + (used.isEmpty ? "" : "from typing import \(used.joined(separator: ", "))\n")
      + (model.whole == nil
        ? "\nfrom statewire import \(["EventStream", "Kind", "Store"].filter(words.contains).joined(separator: ", "))\n"
        : "")
  }

  // MARK: - Declarations

  private func isAlias(_ declaration: TypeDeclaration) -> Bool {
    if case .object = declaration.shape { false } else { true }
  }

  private func namesInAlias(_ declaration: TypeDeclaration) -> [Int] {
    if case .taggedUnion = declaration.shape { [] } else { declaration.types.flatMap(\.names) }
  }

  private func objectClass(_ declaration: TypeDeclaration) -> String {
    guard case .object(let members, _) = declaration.shape else { return "" }
    return self.class(declaration.name, members, tag: nil, declaration.description)
  }

  private func `class`(
    _ name: String, _ members: [TypeDeclaration.Member], tag: (key: String, value: String)?,
    _ description: String?
  ) -> String {
    var always = members.filter(\.isRequired).map(field)
    let sometimes = members.filter { !$0.isRequired }.map(field)
    if let tag {
      always.insert(
        Field(key: tag.key, type: "Literal[\(tag.value.jsonLiteral)]", description: nil), at: 0)
    }
    guard (always + sometimes).allSatisfy({ isSafe($0.key) }) else {
      return functional(name, always, sometimes, description)
    }
    let doc = description.map { docstring($0).indented(by: 4) + "\n" } ?? ""
    if always.isEmpty, sometimes.isEmpty {
      return "class \(name)(TypedDict):\n" + (doc.isEmpty ? "    pass\n" : doc)
    }
    let space = doc.isEmpty ? "" : "\n"
    if sometimes.isEmpty { return "class \(name)(TypedDict):\n\(doc)\(space)\(lines(always))" }
    if always.isEmpty {
      return "class \(name)(TypedDict, total=False):\n\(doc)\(space)\(lines(sometimes))"
    }
    return "class _\(name)(TypedDict):\n\(lines(always))\n\n"
      + "class \(name)(_\(name), total=False):\n\(doc)\(space)\(lines(sometimes))"
  }

  private struct Field {
    let key: String
    let type: String
    let description: String?
  }

  private func field(_ member: TypeDeclaration.Member) -> Field {
    Field(key: member.key, type: type(member.type), description: member.description)
  }

  private func lines(_ fields: [Field]) -> String {
    fields.map { "\(comment($0.description, "    # "))    \($0.key): \($0.type)\n" }.joined()
  }

  /// Returns a `TypedDict` in the functional syntax, for members whose keys are not identifiers of
  /// Python or are names of types.
  private func functional(
    _ name: String, _ always: [Field], _ sometimes: [Field], _ description: String?
  ) -> String {
    func call(_ name: String, _ fields: [Field], isTotal: Bool) -> String {
      let lines = fields.map {
        comment($0.description, "        # ")
          + "        \($0.key.jsonLiteral): \($0.type.jsonLiteral),\n"
      }
      return "\(name) = TypedDict(\n    \"\(name)\",\n    {\n\(lines.joined())    },\n"
        + (isTotal ? "" : "    total=False,\n") + ")\n"
    }
    let doc = comment(description, "# ")
    if sometimes.isEmpty { return doc + call(name, always, isTotal: true) }
    if always.isEmpty { return doc + call(name, sometimes, isTotal: false) }
    let body = description.map { docstring($0).indented(by: 4) + "\n" } ?? "    pass\n"
    return call("_\(name)Always", always, isTotal: true)
      + call("_\(name)Sometimes", sometimes, isTotal: false)
      + "\n\nclass \(name)(_\(name)Always, _\(name)Sometimes):\n\(body)"
  }

  private func alias(_ declaration: TypeDeclaration, isQuoted: Bool) -> String {
    let types: [String] =
      switch declaration.shape {
      case .object: []
      case .taggedUnion(_, let cases): cases.map(\.name)
      case .union(let alternatives): alternatives.map { type($0.type) }.uniqued
      case .values(let values): [literals(values.map(\.value))]
      case .alias(let type): [self.type(type)]
      }
    let name = declaration.name
    let comment = comment(declaration.wholeDescription, "#: ")
    let line = "\(name): TypeAlias = \(types.joined(separator: " | "))"
    if isQuoted {
      return "\(comment)\(name): TypeAlias = \(types.joined(separator: " | ").jsonLiteral)\n"
    }
    if line.utf8.count <= 100 || types.count == 1 { return "\(comment)\(line)\n" }
    return "\(comment)\(name): TypeAlias = (\n    " + types.joined(separator: "\n    | ") + "\n)\n"
  }

  // MARK: - Types

  func type(_ type: TypeExpression) -> String {
    switch type {
    case .any: "Any"
    case .null: "None"
    case .boolean: "bool"
    case .integer: "int"
    case .number: "float"
    case .string(let format):
      model.formats.first { $0.format == format }?.name ?? "str"
    case .literal(let value): literals([value])
    case .either(let types): types.map { self.type($0) }.uniqued.joined(separator: " | ")
    case .array(let element): "list[\(self.type(element))]"
    case .map(let value): "dict[str, \(self.type(value))]"
    case .optional(let inner): "\(self.type(inner)) | None"
    case .named(let index): model.declarations[index].name
    }
  }

  private func literals(_ values: [JSONValue]) -> String {
    let literals = values.compactMap { value -> String? in
      switch value {
      case .null: "None"
      case .bool(let value): value ? "True" : "False"
      case .string(let text): text.jsonLiteral
      case .number(let number): number.int.map { "\($0)" }
      case .array, .object: nil
      }
    }
    // `Literal` has no floating-point numbers.
    return literals.count == values.count
      ? "Literal[\(literals.joined(separator: ", "))]" : "Any"
  }

  // MARK: - Kinds

  private func kind(_ kind: TypeModel.Kind) -> [String] {
    let constant = kind.prefix.snakeCased.uppercased()
    // The input of `Kind` is an object.
    let input = isObject(kind.input) ? type(kind.input) : "Any"
    var parts = [
      "\n" + comment(kind.description, "#: ")
        + "\(constant): Kind[\(input), \(type(kind.state))] = Kind(\(kind.name.jsonLiteral))\n"
    ]
    if let (tag, cases) = model.cases(of: kind.input) {
      parts += PythonInputs(writer: self).text(kind, cases, tag: tag)
    }
    if let event = kind.event {
      let function = safe(kind.prefix.snakeCased) + "_events"
      parts.append(
        "\ndef \(function)(store: Store[\(input), \(type(kind.state))]) -> EventStream[\(type(event))]:\n"
          + docstring(
            "Iterates over the events of a store of the kind \(kind.name.jsonLiteral) from now on."
          )
          .indented(by: 4) + "\n    return store.events()\n")
    }
    return parts
  }

  private func isObject(_ type: TypeExpression) -> Bool {
    var seen: Set<Int> = []
    return isObject(type, &seen)
  }

  /// - Parameter seen: The declarations that have been looked at: a union can contain itself.
  private func isObject(_ type: TypeExpression, _ seen: inout Set<Int>) -> Bool {
    switch type {
    case .map: return true
    case .named(let index):
      guard seen.insert(index).inserted else { return true }
      switch model.declarations[index].shape {
      case .object, .taggedUnion: return true
      case .union(let alternatives): return alternatives.allSatisfy { isObject($0.type, &seen) }
      case .alias(let type): return isObject(type, &seen)
      case .values: return false
      }
    default: return false
    }
  }

  // MARK: - The protocol

  private func errors(_ whole: TypeModel.Whole) -> String {
    "#: The names of the errors.\nERRORS: dict[int, str] = {\n"
      + whole.errors.map { "    \($0.code): \($0.name.jsonLiteral),\n" }.joined() + "}\n"
  }

  // MARK: - Text

  func docstring(_ text: String) -> String {
    var text = text.commentLines.joined(separator: "\n").replacingBackslashes
    text = text.split(separator: "\"\"\"", omittingEmptySubsequences: false)
      .joined(separator: "'''")
    if text.hasSuffix("\"") { text += " " }
    return "\"\"\"\(text)\(text.contains("\n") ? "\n" : "")\"\"\""
  }

  private func comment(_ text: String?, _ start: String) -> String {
    (text?.commentLines ?? []).map { line in
      var line = start + line
      while line.last == " " { line.removeLast() }
      return line + "\n"
    }.joined()
  }

  /// True if a key can be a member of a class without hiding a name that types use.
  private func isSafe(_ key: String) -> Bool {
    key.isIdentifier && key.utf8.allSatisfy { $0 < 0x80 } && safe(key) == key
      && !key.hasPrefix("__") && !["Any", "Literal"].contains(key)
      && !model.declarations.contains { $0.name == key }
  }

  /// Returns a name that is neither a keyword nor the name of a type.
  func safe(_ name: String) -> String {
    Self.reserved.contains(name) ? name + "_" : name
  }

  private static let reserved: Set<String> = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield", "bool", "dict", "float", "int", "list", "staticmethod", "str",
  ]
}

extension String {
  fileprivate var replacingBackslashes: String {
    split(separator: "\\", omittingEmptySubsequences: false).joined(separator: "\\\\")
  }
}
