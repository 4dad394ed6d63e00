// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The changes of a program's schemas for which clients are not prepared.
enum SchemaChange {
  /// Returns one sentence for each incompatible change; none if there are none.
  ///
  /// It compares the forms of enumerations, the members of objects and the types of both, also where
  /// schemas refer to definitions. Other keywords are not compared.
  static func faults(from old: ProgramDescription, to new: ProgramDescription) -> [String] {
    var faults: [String] = []
    // Clients send inputs and configurations, so a form that is gone and a member that is new and
    // required are faults. They receive views and events, so a member that is gone is one.
    compare(old.configuration, new.configuration, "configuration", isSent: true, &faults)
    compare(old.input, new.input, "input", isSent: true, &faults)
    compare(old.viewState, new.viewState, "view state", isSent: false, &faults)
    compare(old.event, new.event, "event", isSent: false, &faults)
    if old.viewKey != new.viewKey {
      faults.append("viewsBy changed; open stores keep the previous value")
    }
    return faults
  }

  private static func compare(
    _ old: JSONSchema?, _ new: JSONSchema?, _ name: String, isSent: Bool, _ faults: inout [String]
  ) {
    guard let old, let new else { return }
    let roots = (old.value, new.value)
    compare(old.value, new.value, roots, name, isSent: isSent, 0, &faults)
  }

  private static func compare(
    _ old: JSONValue, _ new: JSONValue, _ roots: (JSONValue, JSONValue), _ name: String,
    isSent: Bool, _ depth: Int, _ faults: inout [String]
  ) {
    guard depth < 32 else { return }
    let (old, new) = (resolved(old, roots.0), resolved(new, roots.1))
    if let one = old["type"], let other = new["type"], one != other {
      return faults.append("the type of \(name) changed")
    }
    let (forms, newForms) = (self.forms(of: old, roots.0), self.forms(of: new, roots.1))
    for (tag, form) in forms {
      guard let other = newForms[tag] else {
        if isSent { faults.append("\(tag.quoted(upTo: 64)) was removed from the cases of \(name)") }
        continue
      }
      compare(form, other, roots, "\(name) \(tag)", isSent: isSent, depth + 1, &faults)
    }
    let required = names(new["required"])
    if isSent {
      for member in required.subtracting(names(old["required"])).sorted() {
        faults.append("\(name) now requires member \(member.quoted(upTo: 64))")
      }
    }
    guard let members = old["properties"]?.object, let others = new["properties"]?.object else {
      return
    }
    for (member, schema) in members {
      guard let other = others[member] else {
        if !isSent { faults.append("member \(member.quoted(upTo: 64)) was removed from \(name)") }
        continue
      }
      compare(schema, other, roots, "\(name)/\(member)", isSent: isSent, depth + 1, &faults)
    }
  }

  private static func names(_ value: JSONValue?) -> Set<String> {
    Set((value?.array ?? []).compactMap(\.string))
  }

  private static func resolved(_ schema: JSONValue, _ root: JSONValue) -> JSONValue {
    guard let reference = schema["$ref"]?.string, reference.hasPrefix("#/"),
      let pointer = try? JSONPointer(parsing: String(reference.dropFirst()))
    else { return schema }
    return root[pointer] ?? schema
  }

  /// The forms of an enumeration by their `type`, or by their value.
  private static func forms(of schema: JSONValue, _ root: JSONValue) -> [String: JSONValue] {
    var forms: [String: JSONValue] = [:]
    for choice in schema["oneOf"]?.array ?? schema["anyOf"]?.array ?? [] {
      let form = resolved(choice, root)
      let tag = form["properties"]?["type"]
      if let name = tag?["const"]?.string ?? tag?["enum"]?[0]?.string { forms[name] = form }
    }
    for case .string(let value) in schema["enum"]?.array ?? [] { forms[value] = .bool(true) }
    return forms
  }
}
