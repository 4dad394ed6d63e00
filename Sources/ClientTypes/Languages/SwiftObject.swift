// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The text of a Swift type for an object.
struct SwiftObject {
  private let writer: SwiftWriter
  private let properties: [(name: String, member: TypeDeclaration.Member)]

  init(_ members: [TypeDeclaration.Member], _ writer: SwiftWriter) {
    self.writer = writer
    var names = UniqueNames(taken: ["CodingKeys"])
    properties = members.map { (names.unique(writer.identifier($0.key)), $0) }
  }

  func structure(_ name: String) -> String {
    "public struct \(name): Codable, Equatable, Sendable {\n"
      + body(keyword: "var") + initialiser + "}\n"
  }

  /// Returns a class, for an object that contains itself.
  func finalClass(_ name: String) -> String {
    let comparisons = properties.map {
      "one.\(writer.safe($0.name)) == other.\(writer.safe($0.name))"
    }
    return "public final class \(name): Codable, Equatable, Sendable {\n"
      + body(keyword: "let") + initialiser + """

          public static func == (one: \(name), other: \(name)) -> Bool {
            \(comparisons.joined(separator: "\n      && "))
          }
        }

        """
  }

  private func body(keyword: String) -> String {
    properties.map { name, member in
      writer.comment(member.description, indent: 2)
        + "  public \(keyword) \(writer.safe(name)): \(writer.type(of: member))\n"
    }.joined() + codingKeys + (properties.isEmpty ? "" : "\n")
  }

  /// The keys, if one of them is not the name of its property.
  private var codingKeys: String {
    guard properties.contains(where: { $0.name != $0.member.key }) else { return "" }
    let cases = properties.map { name, member in
      "    case \(writer.safe(name)) = \(writer.literal(member.key))\n"
    }
    return "\n  private enum CodingKeys: String, CodingKey {\n\(cases.joined())  }\n"
  }

  private var initialiser: String {
    guard !properties.isEmpty else { return "  public init() {}\n" }
    let parameters = properties.map { name, member in
      let type = writer.type(of: member)
      return "    \(writer.safe(name)): \(type)\(type.hasSuffix("?") ? " = nil" : "")"
    }
    let assignments = properties.map { name, _ in
      "    self.\(writer.safe(name)) = \(writer.safe(name))\n"
    }
    return "  public init(\n\(parameters.joined(separator: ",\n"))\n  ) {\n"
      + assignments.joined() + "  }\n"
  }
}

/// The text of a Swift enum for objects with a tag.
struct SwiftUnion {
  private typealias Field = (label: String, member: TypeDeclaration.Member)

  private let writer: SwiftWriter
  private let tag: String
  private let cases: [(name: String, value: TypeDeclaration.Case, fields: [Field])]

  init(_ cases: [TypeDeclaration.Case], tag: String, _ writer: SwiftWriter) {
    self.writer = writer
    self.tag = tag
    var names = UniqueNames(taken: ["CodingKeys"])
    self.cases = cases.map { one in
      var labels = UniqueNames()
      let fields = one.members.map { member in
        (labels.unique(writer.identifier(Self.fieldName(member.key, tag))), member)
      }
      return (names.unique(writer.identifier(one.value)), one, fields)
    }
  }

  /// Returns the name of the field with a key: the coders of the client write a field `type` as
  /// `_type`, because `type` names the case.
  private static func fieldName(_ key: String, _ tag: String) -> String {
    let isMoved =
      tag == "type" && key.hasSuffix("_type") && key.dropLast(4).allSatisfy { $0 == "_" }
    return isMoved ? String(key.dropFirst()) : key
  }

  func text(_ name: String, isRecursive: Bool) -> String {
    let declared = cases.map { one in
      let fields = one.fields.map { field in
        let type = writer.type(of: field.member)
        // Swift itself names payloads without labels in the same way.
        let label = one.value.isPositional && tag == "type" ? "" : "\(writer.safe(field.label)): "
        return "\(label)\(type)\(type.hasSuffix("?") ? " = nil" : "")"
      }
      return writer.comment(one.value.description, indent: 2)
        + "  case \(writer.safe(one.name))"
        + (fields.isEmpty ? "" : "(\(fields.joined(separator: ", ")))") + "\n"
    }
    // The coders of the client write the cases of an enum with the tag `type` by themselves.
    let coding = tag == "type" ? codingKeys : codingByHand
    return "public \(isRecursive ? "indirect " : "")enum \(name): Codable, Equatable, Sendable {\n"
      + declared.joined() + coding + "}\n"
  }

  // MARK: - Coding by the coders of the client

  private var codingKeys: String {
    var keys = ""
    if cases.contains(where: { $0.name != $0.value.value }) {
      let lines = cases.map { one in
        "    case \(writer.safe(one.name)) = \(writer.literal(one.value.value))\n"
      }
      keys += "\n  private enum CodingKeys: String, CodingKey {\n\(lines.joined())  }\n"
    }
    for one in cases {
      let fields = one.fields.map {
        (label: $0.label, key: Self.fieldName($0.member.key, tag))
      }
      guard fields.contains(where: { $0.label != $0.key }) else { continue }
      let lines = fields.map {
        "    case \(writer.safe($0.label)) = \(writer.literal($0.key))\n"
      }
      keys +=
        "\n  private enum \(one.name.capitalisedFirst)CodingKeys: String, CodingKey {\n"
        + lines.joined() + "  }\n"
    }
    return keys
  }

  // MARK: - Coding by hand

  private var codingByHand: String {
    var names = UniqueNames(taken: ["tag"])
    var keyNames: [String: String] = [:]
    for key in cases.flatMap({ $0.fields.map(\.member.key) }).uniqued {
      keyNames[key] = names.unique(writer.identifier(key))
    }
    let keys = cases.flatMap { $0.fields.map(\.member.key) }.uniqued.map { key in
      "    case \(writer.safe(keyNames[key] ?? "")) = \(writer.literal(key))\n"
    }
    func key(_ member: TypeDeclaration.Member) -> String {
      ".\(writer.safe(keyNames[member.key] ?? ""))"
    }
    let reading = cases.map { one in
      let fields = one.fields.map { field in
        let type = writer.type(of: field.member)
        let (call, wrapped) =
          type.hasSuffix("?") ? ("decodeIfPresent", String(type.dropLast())) : ("decode", type)
        return "\(writer.safe(field.label)): "
          + "try members.\(call)(\(wrapped).self, forKey: \(key(field.member)))"
      }
      return "    case \(writer.literal(one.value.value)): self = .\(writer.safe(one.name))"
        + (fields.isEmpty ? "" : "(\(fields.joined(separator: ", ")))") + "\n"
    }
    let writing = cases.map { one in
      let values = one.fields.indices.map { "value\($0)" }
      let pattern =
        values.isEmpty ? "" : "(\(values.map { "let \($0)" }.joined(separator: ", ")))"
      let lines = zip(values, one.fields).map { value, field in
        let isOptional = writer.type(of: field.member).hasSuffix("?")
        return "      try members.\(isOptional ? "encodeIfPresent" : "encode")"
          + "(\(value), forKey: \(key(field.member)))\n"
      }
      return "    case .\(writer.safe(one.name))\(pattern):\n"
        + "      try members.encode(\(writer.literal(one.value.value)), forKey: .tag)\n"
        + lines.joined()
    }
    return """

        private enum CodingKeys: String, CodingKey {
          case tag = \(writer.literal(tag))
      \(keys.joined())  }

        public init(from decoder: any Decoder) throws {
          let members = try decoder.container(keyedBy: CodingKeys.self)
          switch try members.decode(String.self, forKey: .tag) {
      \(reading.joined())    case let value:
            throw DecodingError.dataCorruptedError(
              forKey: .tag, in: members, debugDescription: "unknown: \\(value)")
          }
        }

        public func encode(to encoder: any Encoder) throws {
          var members = encoder.container(keyedBy: CodingKeys.self)
          switch self {
      \(writing.joined())    }
        }

      """
  }
}
