// SPDX-License-Identifier: Apache-2.0

extension DecodedText {
  /// What a type's own code, or the code that Swift synthesizes, has thrown.
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

  /// The error for an object that should say which case of an enum it is, and does not.
  func noCase(inObjectAt offset: Int) -> JSONError {
    func error(_ code: JSONError.Code, _ message: String, at offset: Int) -> JSONError {
      JSONError(code, message, offset: offset, path: path(to: object) + [.key("type")])
    }
    // An offset within the object has its path; that of its first byte would do for no other.
    let object = offset
    guard let tag = try? DecodedObject(self, at: offset).member("type") else {
      return error(.missing, "the object has no \"type\"", at: offset)
    }
    guard let name = try? read(String.self, at: tag.offset) else {
      return error(.type, "the \"type\" is no string", at: tag.offset)
    }
    return error(.value, "there is no type \(name.quoted())", at: tag.offset)
  }
}

extension JSONError {
  fileprivate init(_ context: DecodingError.Context, _ code: Code) {
    let description = context.debugDescription
    // What the standard library says here ends with the value, however long that is.
    let message =
      description.hasPrefix("Cannot initialize ")
      ? "the value is none of those that are allowed" : description.shortened
    self.init(code, message, path: context.codingPath.map(JSONPathElement.init))
  }
}

extension JSONPathElement {
  /// The step that a coding key is.
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
  /// The beginning of a message that is not ours and may quote anything.
  var shortened: String {
    let limit = 120
    return unicodeScalars.count <= limit ? self : String(unicodeScalars.prefix(limit)) + "…"
  }
}
