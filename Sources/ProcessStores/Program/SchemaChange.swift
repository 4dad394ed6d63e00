// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The changes of a program's schemas for which clients are not prepared.
struct SchemaChange {
  /// The old and the new schema, with their definitions.
  private let roots: (JSONValue, JSONValue)
  /// True if clients send the values.
  private let isSent: Bool
  private var faults: [String] = []
  /// The pairs of references that have been compared: a schema may refer to itself.
  private var compared: Set<[String]> = []
  /// The number of schemas that are still compared, and the depth of the present one: references need
  /// not meet in pairs.
  private var (left, depth) = (10_000, 0)

  /// Returns one sentence for each incompatible change; none if there are none.
  ///
  /// It compares the forms of enumerations, the members of objects and the types of both, also where
  /// schemas refer to definitions. Other keywords are not compared.
  static func faults(from old: ProgramDescription, to new: ProgramDescription) -> [String] {
    // Clients send inputs and configurations, so a form that is gone and a member that is new and
    // required are faults. They receive views and events, so a member that is gone is one.
    var faults = compare(old.configuration, new.configuration, "configuration", isSent: true)
    faults += compare(old.input, new.input, "input", isSent: true)
    faults += compare(old.viewState, new.viewState, "view state", isSent: false)
    faults += compare(old.event, new.event, "event", isSent: false)
    if old.viewKey != new.viewKey {
      faults.append("viewsBy changed; open stores keep the previous value")
    }
    return faults
  }

  private static func compare(
    _ old: JSONSchema?, _ new: JSONSchema?, _ name: String, isSent: Bool
  ) -> [String] {
    guard let old, let new else { return [] }
    var change = SchemaChange(roots: (old.value, new.value), isSent: isSent)
    change.compare(old.value, new.value, name)
    return change.faults
  }

  /// The most faults of one schema; it is not compared further then.
  private static let maximumFaults = 100

  private init(roots: (JSONValue, JSONValue), isSent: Bool) {
    (self.roots, self.isSent) = (roots, isSent)
  }

  private mutating func compare(_ old: JSONValue, _ new: JSONValue, _ name: String) {
    if let one = old["$ref"]?.string, let other = new["$ref"]?.string,
      !compared.insert([one, other]).inserted
    {
      return
    }
    guard left > 0, depth < 64, faults.count < Self.maximumFaults else { return }
    left -= 1
    depth += 1
    defer { depth -= 1 }
    let (old, new) = (Self.resolved(old, roots.0), Self.resolved(new, roots.1))
    if let one = old["type"], let other = new["type"], one != other {
      return add("the type of \(name) changed")
    }
    let (forms, newForms) = (Self.forms(of: old, roots.0), Self.forms(of: new, roots.1))
    for (tag, form) in forms {
      guard let other = newForms[tag] else {
        if isSent { add("\(tag.quoted(upTo: 64)) was removed from the cases of \(name)") }
        continue
      }
      compare(form, other, "\(name) \(tag.shortened(to: 64))")
    }
    let required = Self.names(new["required"])
    if isSent {
      for member in required.subtracting(Self.names(old["required"])).sorted() {
        add("\(name) now requires member \(member.quoted(upTo: 64))")
      }
    }
    guard let members = old["properties"]?.object, let others = new["properties"]?.object else {
      return
    }
    for (member, schema) in members {
      guard let other = others[member] else {
        if !isSent { add("member \(member.quoted(upTo: 64)) was removed from \(name)") }
        continue
      }
      compare(schema, other, "\(name)/\(member.shortened(to: 64))")
    }
  }

  private mutating func add(_ fault: @autoclosure () -> String) {
    if faults.count < Self.maximumFaults { faults.append(fault()) }
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
      if let name = tag?["const"]?.string ?? tag?["enum"]?[0]?.string { forms[name] = choice }
    }
    for case .string(let value) in schema["enum"]?.array ?? [] { forms[value] = .bool(true) }
    return forms
  }
}
