// SPDX-License-Identifier: Apache-2.0

extension DecodedText {
  /// Converts an error thrown by a type's own code or by code that Swift synthesizes.
  func translate(_ error: DecodingError) -> JSONError {
    switch error {
    case .typeMismatch(_, let context):
      if context.debugDescription.hasPrefix("Invalid number of keys"), let cases = lastCases,
        !cases.isTagged
      {
        return noCase(inObjectAt: cases.object)
      }
      return JSONError(context, .type)
    case .keyNotFound(let key, let context):
      var error = JSONError(context, .missing)
      error.path.append(JSONPathElement(key))
      return error
    case .valueNotFound(_, let context):
      return JSONError(context, .type)
    case .dataCorrupted(let context):
      return JSONError(context, .value)
    @unknown default:
      return JSONError(.value, String(describing: error).shortened)
    }
  }

  /// Returns the error for an object that does not name a known case of an enum.
  func noCase(inObjectAt offset: Int) -> JSONError {
    func error(_ code: JSONError.Code, _ message: String, at offset: Int) -> JSONError {
      JSONError(code, message, offset: offset, path: path(to: object) + [.key("type")])
    }
    // The path is that of the object: a later offset would give the path of a member.
    let object = offset
    guard let tag = try? DecodedObject(self, at: offset).member("type") else {
      return error(.missing, "the object has no \"type\"", at: offset)
    }
    guard let name = try? read(String.self, at: tag.offset) else {
      return error(.type, "the \"type\" is not a string", at: tag.offset)
    }
    return error(.value, "unknown type \(name.quoted())", at: tag.offset)
  }
}

extension JSONError {
  fileprivate init(_ context: DecodingError.Context, _ code: Code) {
    let description = context.debugDescription
    // The standard library's message ends with the value, which has no length limit.
    let message =
      description.hasPrefix("Cannot initialize ")
      ? "the value is not one of the allowed values" : description.shortened
    self.init(code, message, path: context.codingPath.map(JSONPathElement.init))
  }
}

extension JSONPathElement {
  /// Creates the path element for a coding key.
  init(_ key: any CodingKey) {
    if let key = key as? PathKey {
      self = key.element
    } else if let index = key.intValue {
      self = .index(index)
    } else {
      self = .key(key.stringValue)
    }
  }
}

extension String {
  /// The first 120 Unicode scalars, for a message of another library, which may quote any input.
  var shortened: String { shortened(to: 120) }

  /// Returns the first Unicode scalars, followed by `…` if there are more.
  package func shortened(to limit: Int) -> String {
    unicodeScalars.count <= limit ? self : String(unicodeScalars.prefix(limit)) + "…"
  }
}
