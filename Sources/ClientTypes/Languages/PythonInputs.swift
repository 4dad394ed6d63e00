// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The constructors of inputs in Python, as static methods of a class. A case with the input of a
/// child is an object that can be called, and that has the constructors of this input:
/// `RaceInputs.left.started()`.
struct PythonInputs {
  let writer: PythonWriter

  /// A case around an input.
  private struct Level {
    let one: TypeDeclaration.Case
    let tag: String
    let nesting: TypeModel.Nesting
  }

  private struct Parameter {
    let name: String
    let member: TypeDeclaration.Member
  }

  /// Returns the classes: those for the inputs of children first.
  func text(_ kind: TypeModel.Kind, _ cases: [TypeDeclaration.Case], tag: String) -> [String] {
    classes(
      "\(kind.prefix)Inputs", "Creates inputs of the kind \(kind.name.jsonLiteral).", cases, tag, []
    )
  }

  private func classes(
    _ name: String, _ description: String, _ cases: [TypeDeclaration.Case], _ tag: String,
    _ levels: [Level]
  ) -> [String] {
    var names = UniqueNames()
    var before: [String] = []
    var members: [String] = []
    if let level = levels.last {
      members.append(
        method("__call__", level.one, level.tag, in: levels.dropLast(), isStatic: false))
    }
    for one in cases {
      let method = names.unique(writer.safe(one.value.memberName.snakeCased))
      guard let nesting = writer.model.nesting(one) else {
        members.append(self.method(method, one, tag, in: levels[...], isStatic: true))
        continue
      }
      let inner = "_\(one.name)Constructors"
      before += classes(
        inner, "Creates inputs \(one.value.jsonLiteral).", nesting.cases, nesting.tag,
        levels + [Level(one: one, tag: tag, nesting: nesting)])
      members.append("    \(method) = \(inner)()\n")
    }
    let doc = writer.docstring(description).indented(by: 4)
    return before + ["\nclass \(name):\n\(doc)\n\n" + members.joined(separator: "\n")]
  }

  private func method(
    _ name: String, _ one: TypeDeclaration.Case, _ tag: String, in levels: ArraySlice<Level>,
    isStatic: Bool
  ) -> String {
    var names = UniqueNames()
    func parameter(_ member: TypeDeclaration.Member) -> Parameter {
      Parameter(name: names.unique(writer.safe(member.key.memberName)), member: member)
    }
    let outer = levels.map { $0.nesting.others.map(parameter) }
    let own = one.members.map(parameter)
    let required = own.filter(\.member.isRequired)
    let optional = own.filter { !$0.member.isRequired }
    let signature = (outer.flatMap(\.self) + required + optional).map { parameter in
      let type = writer.type(parameter.member.type)
      if parameter.member.isRequired { return "\(parameter.name): \(type)" }
      let isNullable = parameter.member.type == parameter.member.type.orNull
      return "\(parameter.name): \(isNullable ? type : "\(type) | None") = None"
    }
    let isPositional = one.isPositional && outer.allSatisfy(\.isEmpty)
    let parameters =
      (isStatic ? [] : [names.unique("_constructors")])
      + (signature.isEmpty || isPositional ? [] : ["*"]) + signature
    let result = levels.first?.one.name ?? one.name
    let head =
      (isStatic ? "    @staticmethod\n" : "")
      + "    def \(name)(\(parameters.joined(separator: ", "))) -> \(result):\n"
      + (one.description.map { writer.docstring($0).indented(by: 8) + "\n" } ?? "")
    var body = ""
    var value = object(one.value, tag, required.map { ($0.member.key, $0.name) })
    var type = one.name
    /// Gives the value a name, so that its type is known.
    func declare(_ input: String) {
      body += "        \(input): \(type) = \(value)\n"
      value = input
    }
    if !optional.isEmpty {
      let input = names.unique("_input")
      declare(input)
      for parameter in optional {
        body += "        if \(parameter.name) is not None:\n"
        body += "            \(input)[\(parameter.member.key.jsonLiteral)] = \(parameter.name)\n"
      }
    }
    for (level, others) in zip(levels, outer).reversed() {
      if value.hasPrefix("{") { declare(names.unique("_input")) }
      value = object(
        level.one.value, level.tag,
        others.map { ($0.member.key, $0.name) } + [(level.nesting.member.key, value)])
      type = level.one.name
    }
    return head + body + "        return \(value)\n"
  }

  private func object(_ value: String, _ tag: String, _ members: [(key: String, value: String)])
    -> String
  {
    let items =
      ["\(tag.jsonLiteral): \(value.jsonLiteral)"]
      + members.map { "\($0.key.jsonLiteral): \($0.value)" }
    return "{\(items.joined(separator: ", "))}"
  }
}
