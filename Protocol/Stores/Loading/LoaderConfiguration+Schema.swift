// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

extension LoaderConfiguration: JSONDescribed {
  /// Returns the schema of a tree, or `{}` for the demonstration.
  public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
    let empty = JSONSchema(["type": "object", "maxProperties": 0])
    return .oneOf([
      empty.titled("LoaderConfigurationDemonstration"), try schemas.schema(of: Node.self),
    ])
  }

  /// The schema of one node of a tree with the nodes below it.
  private enum Node: JSONDescribed {
    static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
      let name = JSONSchema.string(maximumBytes: maximumNameBytes, minimumLength: 1)
      let count = JSONSchema.integer(minimum: 1)
      let time = try schemas.schema(of: Seconds.self)
      let node = try schemas.schema(of: Node.self)
      let inner = JSONSchema.Member.member("of", node)
      let several = JSONSchema.Member.member("of", .array(of: node, isEmptyAllowed: false))
      let states = JSONSchema.array(
        of: try schemas.schema(of: MockState.self), isEmptyAllowed: false)
      return .oneOf([
        .tagged("source", [.member("name", name)]),
        .tagged("mock", [.member("states", states)]),
        .tagged(
          "debounce",
          [.optional("interval", time), .optional("executeFirstImmediately", .boolean), inner]),
        .tagged(
          "retry",
          [
            .member("maxAttempts", .integer(minimum: 1, maximum: maximumAttempts)),
            .optional("backoff", try schemas.schema(of: RetryBackoff.self)), inner,
          ]),
        .tagged("timeout", [.member("interval", time), inner]),
        .tagged("cache", [.member("key", name), .member("ttl", time), inner]),
        .tagged("concurrencyLimit", [.member("limit", count), inner]),
        .tagged("all", [several]),
        .tagged("sequence", [several]),
      ])
    }
  }
}

extension LoaderConfiguration.MockState: JSONDescribed {
  /// Returns the JSON Schema of the type.
  public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
    .object([
      .optional("after", try schemas.schema(of: Seconds.self)),
      .member("state", try schemas.schema(of: LoadingViewState.self)),
    ])
  }
}

extension LoaderConfiguration.RetryBackoff: JSONDescribed {
  /// Returns the JSON Schema of the type.
  public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
    let time = try schemas.schema(of: Seconds.self)
    return .object([
      .optional("type", .constant("exponential")), .optional("base", time),
      .optional("factor", .number(minimum: 0)), .optional("max", time),
    ])
  }
}
