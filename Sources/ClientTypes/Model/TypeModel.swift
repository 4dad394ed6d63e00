// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The type of a value.
indirect enum TypeExpression: Equatable {
  /// Any JSON value.
  case any
  case null
  case boolean
  case integer
  case number
  /// A string; `format` is for readers, such as `date-time`.
  case string(format: String?)
  /// Exactly one string, number or Boolean.
  case literal(JSONValue)
  /// One of several types that differ by their JSON type.
  case either([TypeExpression])
  case array(TypeExpression)
  /// An object with any keys.
  case map(TypeExpression)
  /// The type, or null.
  case optional(TypeExpression)
  /// A declaration, by its index in the model.
  case named(Int)

  /// The type, or null; null is not added twice.
  var orNull: TypeExpression {
    switch self {
    case .any, .null, .optional: self
    default: .optional(self)
    }
  }
}

/// A type with a name.
struct TypeDeclaration {
  /// A member of an object.
  struct Member {
    /// The key on the wire.
    let key: String
    let type: TypeExpression
    /// True if the member is always present.
    let isRequired: Bool
    let description: String?

    /// True if a value need not be given.
    var isOmissible: Bool { !isRequired }

    /// The position of a payload without a label, whose key is `_0`, `_1` and so on; nil for others.
    var position: Int? { key.payloadPosition }
  }

  /// A case of a tagged union.
  struct Case {
    /// The value of the tag.
    let value: String
    /// The name of the type of this case, where each case has one.
    let name: String
    let members: [Member]
    let description: String?

    /// True if the payload has no labels.
    var isPositional: Bool {
      !members.isEmpty && members.enumerated().allSatisfy { $0.element.position == $0.offset }
    }
  }

  /// An alternative of a union without a tag.
  struct Alternative {
    /// A word for the alternative, in the form of a type name.
    let label: String
    let type: TypeExpression
  }

  /// A value of an enumeration.
  struct Value {
    let value: JSONValue
    let description: String?
  }

  enum Shape {
    /// An object. A closed one has no other members.
    case object([Member], isClosed: Bool)
    /// Objects with a member, the tag, that names the case.
    case taggedUnion(tag: String, [Case])
    case union([Alternative])
    case values([Value])
    case alias(TypeExpression)
  }

  let name: String
  let description: String?
  let shape: Shape
}

/// The types of one document, for all languages.
struct TypeModel {
  /// A store kind and its types.
  struct Kind {
    /// The name on the wire.
    let name: String
    /// The name in the form of a type name, such as `TodoList`.
    let prefix: String
    let description: String?
    let state: TypeExpression
    let input: TypeExpression
    /// The type of the events; nil if there are none.
    let event: TypeExpression?
    let configuration: TypeExpression
  }

  /// The whole protocol; see `ClientTypes.init(ofProtocol:)`.
  struct Whole {
    struct Method {
      let name: String
      let params: TypeExpression
      let result: TypeExpression
    }

    struct ErrorCode {
      let name: String
      let code: Int
      let data: TypeExpression?
    }

    let methods: [Method]
    let notifications: [Method]
    let errors: [ErrorCode]
  }

  let declarations: [TypeDeclaration]
  let kinds: [Kind]
  /// Nil for the types of kinds alone.
  let whole: Whole?

  /// The declaration of an input type that is a tagged union: its cases have constructors.
  func cases(of input: TypeExpression) -> (tag: String, cases: [TypeDeclaration.Case])? {
    guard case .named(let index) = input else { return nil }
    switch declarations[index].shape {
    case .taggedUnion(let tag, let cases): return (tag, cases)
    case .alias(let type): return self.cases(of: type)
    default: return nil
    }
  }
}

// MARK: - Inputs of children

extension TypeModel {
  /// A case of an input that contains an input of another type, as those of a composed machine do.
  struct Nesting {
    /// The member that contains the other input.
    let member: TypeDeclaration.Member
    /// The other members that are always present, such as the id of an element.
    let others: [TypeDeclaration.Member]
    /// The other input.
    let tag: String
    let cases: [TypeDeclaration.Case]
  }

  /// Returns the input in a case; nil if the case has none, several, or one that contains itself.
  func nesting(_ one: TypeDeclaration.Case) -> Nesting? {
    let nested = one.members.filter { $0.isRequired && cases(of: $0.type) != nil }
    guard nested.count == 1, let member = nested.first, let (tag, cases) = cases(of: member.type),
      !member.type.names.contains(where: isRecursive)
    else { return nil }
    return Nesting(
      member: member, others: one.members.filter { $0.isRequired && $0.key != member.key },
      tag: tag, cases: cases)
  }

  /// True if a type is an object without members.
  func isEmpty(_ type: TypeExpression) -> Bool {
    guard case .named(let index) = type, case .object(let members, _) = declarations[index].shape
    else { return false }
    return members.isEmpty
  }
}

// MARK: - Collecting

extension TypeModel {
  /// Collects the types of kinds. Each kind has its own types, so that they do not depend on the
  /// selection.
  init(of document: OpenRPCDocument, kinds: [OpenRPCDocument.Kind]) throws(ClientTypesError) {
    var collector = TypeCollector(document: document)
    var prefixes = UniqueNames()
    // The prefixes of all kinds of the document, so that they do not depend on the selection.
    var prefix: [String: String] = [:]
    for kind in document.kinds {
      prefix[kind.name] = prefixes.unique(kind.name.typeName(else: "Kind"))
    }
    var collected: [Kind] = []
    for kind in kinds {
      let prefix = prefix[kind.name] ?? ""
      collector.startKind()
      // The state first: the types that inputs and states share are named after the state.
      let state = try collector.root(kind.state, named: prefix + "State")
      let event: TypeExpression? =
        if let event = kind.event {
          try collector.root(event, named: prefix + "Event")
        } else {
          nil
        }
      collected.append(
        Kind(
          name: kind.name, prefix: prefix, description: kind.description, state: state,
          input: try collector.root(kind.input, named: prefix + "Input"), event: event,
          configuration: try collector.root(
            kind.configuration, named: prefix + "Configuration")))
    }
    self.init(declarations: collector.finished(), kinds: collected, whole: nil)
  }

  /// Collects the types of all schemas, under their names.
  init(ofProtocol document: OpenRPCDocument) throws(ClientTypesError) {
    var collector = TypeCollector(document: document, usesSchemaNames: true)
    try collector.declareSchemas()
    var kinds: [Kind] = []
    for kind in document.kinds {
      let event: TypeExpression? =
        if let event = kind.event { try collector.inline(event) } else { nil }
      kinds.append(
        Kind(
          name: kind.name, prefix: kind.name.typeName(else: "Kind"),
          description: kind.description, state: try collector.inline(kind.state),
          input: try collector.inline(kind.input), event: event,
          configuration: try collector.inline(kind.configuration)))
    }
    var methods: [[Whole.Method]] = []
    for group in [document.methods, document.notifications] {
      var collected: [Whole.Method] = []
      for method in group {
        collected.append(
          Whole.Method(
            name: method.name, params: try collector.inline(method.params ?? ["type": "object"]),
            result: try collector.inline(method.result ?? ["type": "null"])))
      }
      methods.append(collected)
    }
    var errors: [Whole.ErrorCode] = []
    for error in document.errors {
      let data: TypeExpression? =
        if let data = error.data { try collector.inline(data) } else { nil }
      errors.append(Whole.ErrorCode(name: error.name, code: error.code, data: data))
    }
    self.init(
      declarations: collector.finished(), kinds: kinds,
      whole: Whole(methods: methods[0], notifications: methods[1], errors: errors))
  }
}
