// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// Writes a model as a Kotlin file: data classes and sealed classes, which convert themselves from
/// and to JSON as maps, lists and scalars.
///
/// The text needs no library and no compiler plug-in. Moshi, Jackson, Gson and `org.json` read JSON
/// text as such values.
struct KotlinWriter {
  let model: TypeModel
  let package: String?

  func text() -> String {
    var parts = [
      (model.whole == nil ? "" : "// SPDX-License-Identifier: Apache-2.0\n")
        + "// \(TypeModel.origin)\n"
        + "// JSON is represented by Map<String, Any?>, List<Any?>, String, Number, Boolean and null.\n"
        + (package.map { "\npackage \($0)\n" } ?? "")
    ]
    parts += model.declarations.indices.map(declaration)
    if model.whole == nil {
      parts += model.kinds.map { kind in
        let title = kind.description ?? "The name of the kind \"\(kind.name)\"."
        return blockComment(title)
          + "const val \(kind.prefix.snakeCased.uppercased()) = \(literal(kind.name))\n"
      }
    }
    return parts.joined(separator: "\n")
  }

  // MARK: - Declarations

  private func declaration(_ index: Int) -> String {
    let declaration = model.declarations[index]
    let comment = blockComment(declaration.description)
    let name = declaration.name
    switch declaration.shape {
    case .object(let members, _): return comment + self.class(name, members)
    case .taggedUnion(let tag, let cases):
      let classes = cases.map { one in
        "\n" + blockComment(one.description)
          + self.class(one.name, one.members, tag: (tag, one.value), base: name)
      }
      let branches = cases.map { "            \(literal($0.value)) -> \($0.name).fromJson(json)\n" }
      return comment + """
        sealed class \(name) {
            abstract fun toJson(): Map<String, Any?>

            companion object {
                fun fromJson(json: Any?): \(name) = when (val tag = (json as Map<*, *>)[\(literal(tag))]) {
        \(branches.joined())            else -> throw IllegalArgumentException("\(name): unknown " + tag)
                }
            }
        }

        """ + classes.joined()
    case .union(let alternatives): return comment + union(name, alternatives)
    case .values(let values): return comment + enumeration(name, values)
    case .alias(let type):
      let type = isRecursive(index) ? "Any?" : self.type(type)
      return "\(comment)typealias \(name) = \(type)\n"
    }
  }

  private func `class`(
    _ name: String, _ members: [TypeDeclaration.Member], tag: (key: String, value: String)? = nil,
    base: String? = nil
  ) -> String {
    var names = UniqueNames()
    let properties = members.map { member in
      (name: names.unique(safe(member.key.memberName)), member: member)
    }
    let sorted =
      properties.filter { !hasDefault($0.member) } + properties.filter { hasDefault($0.member) }
    let parameters = sorted.map { name, member in
      blockComment(member.description, indent: 4)
        + "    val \(name): \(nullable(member))\(hasDefault(member) ? " = null" : "")"
    }
    let override = base == nil ? "" : "override "
    let inherits = base.map { " : \($0)()" } ?? ""
    var entries = tag.map { ["        json[\(literal($0.key))] = \(literal($0.value))\n"] } ?? []
    for (name, member) in properties {
      let key = literal(member.key)
      if member.isRequired {
        entries.append("        json[\(key)] = \(toJSON(member.type, name))\n")
      } else {
        let value = toJSON(member.type.withoutNull, name)
        entries.append("        if (\(name) != null) json[\(key)] = \(value)\n")
      }
    }
    let arguments = sorted.map { name, member in
      let type = member.isRequired ? member.type : member.type.orNull
      return "\(name) = " + fromJSON(type, "members[\(literal(member.key))]")
    }
    let writing = """
          \(override)fun toJson(): Map<String, Any?> {
              val json = LinkedHashMap<String, Any?>()
      \(entries.joined())        return json
          }

      """
    guard !members.isEmpty else {
      return """
        object \(name)\(inherits) {
        \(writing)
            @Suppress("UNUSED_PARAMETER")
            fun fromJson(json: Any?): \(name) = this

            override fun toString() = "\(name)"
        }

        """
    }
    return """
      data class \(name)(
      \(parameters.joined(separator: ",\n"))
      )\(inherits) {
      \(writing)
          companion object {
              fun fromJson(json: Any?): \(name) {
                  val members = json as Map<*, *>
                  return \(name)(
      \(arguments.map { "                " + $0 }.joined(separator: ",\n"))
                  )
              }
          }
      }

      """
  }

  private func union(_ name: String, _ alternatives: [TypeDeclaration.Alternative]) -> String {
    let ordered = model.mostSpecificFirst(alternatives)
    let attempts = ordered.map { one in
      "{ \(name)Of\(one.label)(\(fromJSON(one.type, "json"))) }"
    }
    let classes = alternatives.map { one in
      """

      data class \(name)Of\(one.label)(val value: \(type(one.type))) : \(name)() {
          override fun toJson(): Any? = \(toJSON(one.type, "value"))
      }

      """
    }
    return """
      sealed class \(name) {
          abstract fun toJson(): Any?

          companion object {
              fun fromJson(json: Any?): \(name) {
                  val attempts = listOf<() -> \(name)>(
      \(attempts.map { "                " + $0 }.joined(separator: ",\n"))
                  )
                  for (attempt in attempts) {
                      try {
                          return attempt()
                      } catch (error: RuntimeException) {
                          continue
                      }
                  }
                  throw IllegalArgumentException("\(name): no alternative fits")
              }
          }
      }

      """ + classes.joined()
  }

  private func enumeration(_ name: String, _ values: [TypeDeclaration.Value]) -> String {
    let isText = values.allSatisfy { $0.value.string != nil }
    guard isText || values.allSatisfy({ $0.value.int != nil }) else {
      return "typealias \(name) = Any?\n"
    }
    var names = UniqueNames()
    let entries = values.map { one in
      let word = one.value.string ?? "value_\(one.value.description.replacingMinus)"
      let entry = names.unique(word.memberName.snakeCased.uppercased())
      let json = one.value.string.map(literal) ?? "\(one.value)L"
      return blockComment(one.description, indent: 4) + "    \(entry)(\(json))"
    }
    let read = isText ? "json" : "(json as Number).toLong()"
    return """
      enum class \(name)(val json: \(isText ? "String" : "Long")) {
      \(entries.joined(separator: ",\n"));

          fun toJson(): Any? = json

          companion object {
              fun fromJson(json: Any?): \(name) = values().firstOrNull { it.json == \(read) }
                  ?: throw IllegalArgumentException("\(name): unknown " + json)
          }
      }

      """
  }

  // MARK: - Types

  private func hasDefault(_ member: TypeDeclaration.Member) -> Bool {
    !member.isRequired || isNullable(member.type)
  }

  private func isNullable(_ type: TypeExpression) -> Bool {
    switch type {
    case .any, .null, .optional: true
    case .either: true
    case .named(let index):
      switch model.declarations[index].shape {
      case .alias(let inner): isRecursive(index) || isNullable(inner)
      case .values(let values):
        !values.allSatisfy { $0.value.string != nil } && !values.allSatisfy { $0.value.int != nil }
      default: false
      }
    default: false
    }
  }

  private func nullable(_ member: TypeDeclaration.Member) -> String {
    let type = type(member.type)
    return member.isRequired || type.hasSuffix("?") || isNullable(member.type) ? type : type + "?"
  }

  private func type(_ type: TypeExpression) -> String {
    switch type {
    case .any, .null, .either: "Any?"
    case .boolean, .literal(.bool): "Boolean"
    case .integer, .literal(.number): "Long"
    case .number: "Double"
    case .string, .literal: "String"
    case .array(let element): "List<\(self.type(element))>"
    case .map(let value): "Map<String, \(self.type(value))>"
    case .optional(let inner):
      isNullable(inner) ? self.type(inner) : self.type(inner) + "?"
    case .named(let index): model.declarations[index].name
    }
  }

  /// Returns the code that converts a value to JSON.
  private func toJSON(_ type: TypeExpression, _ value: String, depth: Int = 1) -> String {
    guard isConverted(type) else { return value }
    let inner = "value\(depth)"
    switch type {
    case .array(let element):
      return "\(value).map { \(inner) -> \(toJSON(element, inner, depth: depth + 1)) }"
    case .map(let element):
      return "\(value).mapValues { \(inner) -> "
        + "\(toJSON(element, "\(inner).value", depth: depth + 1)) }"
    case .optional(let wrapped):
      return "\(value)?.let { \(inner) -> \(toJSON(wrapped, inner, depth: depth + 1)) }"
    case .named(let index):
      if case .alias(let type) = model.declarations[index].shape {
        return toJSON(type, value, depth: depth)
      }
      return "\(value).toJson()"
    default: return value
    }
  }

  /// Returns the code that converts JSON to a value.
  private func fromJSON(_ type: TypeExpression, _ json: String, depth: Int = 1) -> String {
    let inner = "json\(depth)"
    switch type {
    case .any, .null, .either: return json
    case .boolean, .literal(.bool): return "\(json) as Boolean"
    case .integer, .literal(.number): return "(\(json) as Number).toLong()"
    case .number: return "(\(json) as Number).toDouble()"
    case .string, .literal: return "\(json) as String"
    case .array(let element):
      return
        "(\(json) as List<*>).map { \(inner) -> \(fromJSON(element, inner, depth: depth + 1)) }"
    case .map(let element):
      return "(\(json) as Map<*, *>).entries.associate { \(inner) -> "
        + "\(inner).key as String to (\(fromJSON(element, "\(inner).value", depth: depth + 1))) }"
    case .optional(let wrapped):
      return "\(json)?.let { \(inner) -> \(fromJSON(wrapped, inner, depth: depth + 1)) }"
    case .named(let index):
      switch model.declarations[index].shape {
      case .alias(let type):
        return isRecursive(index) ? json : fromJSON(type, json, depth: depth)
      case .values where isNullable(type): return json
      default: return "\(model.declarations[index].name).fromJson(\(json))"
      }
    }
  }

  /// True if a value of the type differs from its JSON.
  private func isConverted(_ type: TypeExpression) -> Bool {
    switch type {
    case .array(let inner), .map(let inner), .optional(let inner): return isConverted(inner)
    case .named(let index):
      switch model.declarations[index].shape {
      case .alias(let inner): return !isRecursive(index) && isConverted(inner)
      case .values: return !isNullable(type)
      case .object, .taggedUnion, .union: return true
      }
    default: return false
    }
  }

  private func isRecursive(_ index: Int) -> Bool { model.isRecursiveAlias(index) }

  // MARK: - Text

  private func literal(_ text: String) -> String {
    // Kotlin replaces `$name` in strings.
    text.jsonLiteral.split(separator: "$", omittingEmptySubsequences: false)
      .joined(separator: "\\$").replacingFormFeeds
  }

  private func safe(_ name: String) -> String {
    Self.reserved.contains(name) ? name + "_" : name
  }

  private static let reserved: Set<String> = [
    "as", "break", "class", "continue", "do", "else", "false", "for", "fun", "if", "in",
    "interface", "is", "null", "object", "package", "return", "super", "this", "throw", "true",
    "try", "typealias", "typeof", "val", "var", "when", "while", "json", "members", "_",
  ]
}

extension TypeExpression {
  fileprivate var withoutNull: TypeExpression {
    if case .optional(let inner) = self { inner } else { self }
  }
}

extension String {
  /// The text with `\f`, which Kotlin does not know, as a number.
  fileprivate var replacingFormFeeds: String {
    var result = ""
    var isEscape = false
    for character in self {
      if isEscape, character == "f" {
        result += "u000c"
      } else {
        result.append(character)
      }
      isEscape = character == "\\" && !isEscape
    }
    return result
  }
}
