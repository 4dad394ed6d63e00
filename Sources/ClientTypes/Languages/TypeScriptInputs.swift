// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The constructors of inputs in TypeScript. A case with the input of a child is a function that has
/// the constructors of this input: `raceInputs.left.started()`.
struct TypeScriptInputs {
  let model: TypeModel
  let type: (TypeExpression) -> String
  let key: (String) -> String

  /// A case around an input, and the parameter with its other members.
  private struct Level {
    let one: TypeDeclaration.Case
    let tag: String
    let nesting: TypeModel.Nesting
    let parameter: String?
  }

  /// Names of functions that cannot be assigned.
  private static let taken: Set<String> = [
    "arguments", "caller", "length", "name", "prototype",
  ]

  func text(_ cases: [TypeDeclaration.Case], tag: String) -> String {
    text(cases, tag, in: [], indent: 2)
  }

  private func text(
    _ cases: [TypeDeclaration.Case], _ tag: String, in levels: [Level], indent: Int
  ) -> String {
    var names = UniqueNames()
    return cases.map { one in
      let word = one.value.memberName
      let name = names.unique(
        levels.isEmpty || !Self.taken.contains(word) ? word : word + "_")
      let comment = blockComment(one.description, indent: indent)
      // A method of this name would not be called `__proto__`.
      let property = name == "__proto__" ? "[\"__proto__\"]" : name
      let (parameters, value) = constructor(one, tag, in: levels)
      let result = levels.first?.one.name ?? one.name
      guard let nesting = model.nesting(one) else {
        let method =
          "\(property)(\(parameters)): \(result) {\n  return \(value);\n},"
        return comment + method.indented(by: indent) + "\n"
      }
      let level = Level(
        one: one, tag: tag, nesting: nesting,
        parameter: nesting.others.isEmpty ? nil : "of\(levels.isEmpty ? "" : "\(levels.count + 1)")"
      )
      let function = "\(property): Object.assign(\n  (\(parameters)): \(result) => (\(value)),\n  {"
      return comment + function.indented(by: indent) + "\n"
        + text(nesting.cases, nesting.tag, in: levels + [level], indent: indent + 4)
        + "  },\n),".indented(by: indent) + "\n"
    }.joined()
  }

  /// Returns the parameters of a constructor, and the value that it returns.
  private func constructor(
    _ one: TypeDeclaration.Case, _ tag: String, in levels: [Level]
  ) -> (parameters: String, value: String) {
    var parameters: [String] = levels.compactMap { level in
      level.parameter.map { parameter in
        let keys = level.nesting.others.map { $0.key.jsonLiteral }.joined(separator: " | ")
        return "\(parameter): Pick<\(level.one.name), \(keys)>"
      }
    }
    let tagMember = "\(key(tag)): \(one.value.jsonLiteral)"
    var value = "{ \(tagMember) }"
    if one.isPositional, one.members.allSatisfy(\.isRequired) {
      parameters += one.members.map { "\($0.key): \(type($0.type))" }
      value = "{ \(tagMember), \(one.members.map(\.key).joined(separator: ", ")) }"
    } else if !one.members.isEmpty {
      let isOptional = one.members.allSatisfy(\.isOmissible)
      parameters.append(
        "members: Omit<\(one.name), \(tag.jsonLiteral)>" + (isOptional ? " = {}" : ""))
      value = "{ \(tagMember), ...members }"
    }
    for level in levels.reversed() {
      let others = level.parameter.map { ", ...\($0)" } ?? ""
      value =
        "{ \(key(level.tag)): \(level.one.value.jsonLiteral)\(others), "
        + "\(key(level.nesting.member.key)): \(value) }"
    }
    return (parameters.joined(separator: ", "), value)
  }
}
