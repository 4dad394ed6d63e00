// SPDX-License-Identifier: Apache-2.0

/// Names of which no two are equal, also without regard to case.
struct UniqueNames {
  private var taken: Set<String>

  /// Creates a collection in which some names are taken.
  init(taken: Set<String> = []) { self.taken = Set(taken.map { $0.lowercased() }) }

  /// Returns the name, with a number if it is taken.
  mutating func unique(_ name: String) -> String {
    var unique = name
    var number = 1
    while !taken.insert(unique.lowercased()).inserted {
      number += 1
      unique = "\(name)\(number)"
    }
    return unique
  }
}

extension String {
  /// The parts of the text that can be parts of an identifier in all languages.
  private var chunks: [String] {
    var chunks: [String] = [""]
    for scalar in unicodeScalars {
      if scalar.isIdentifierPart {
        chunks[chunks.count - 1].unicodeScalars.append(scalar)
      } else {
        chunks.append("")
      }
    }
    return chunks.filter { !$0.isEmpty }
  }

  /// The text as a part of a type name: `card-added` becomes `CardAdded`.
  var capitalisedName: String { chunks.map(\.capitalisedFirst).joined() }

  /// Returns the text as a type name; one without letters follows `word`.
  func typeName(else word: String) -> String {
    let name = capitalisedName
    return name.unicodeScalars.first.map { $0.isLetter } == true ? name : word + name
  }

  /// The text as the name of a function or member: unchanged if it is an identifier, otherwise
  /// `card-added` becomes `cardAdded`.
  var memberName: String {
    if isIdentifier { return self }
    let chunks = chunks
    let name = chunks.prefix(1) + chunks.dropFirst().map(\.capitalisedFirst)
    let joined = name.joined()
    if !joined.contains(where: { $0 != "_" }) { return "empty" }
    return joined.unicodeScalars.first.map { $0.isLetter } == true ? joined : "_" + joined
  }

  /// The text with a lower-case first letter.
  var uncapitalisedFirst: String { prefix(1).lowercased() + dropFirst() }

  /// The text with an upper-case first letter.
  var capitalisedFirst: String { prefix(1).uppercased() + dropFirst() }

  /// The words of an identifier in lower case with underscores: `addTodo` becomes `add_todo`.
  var snakeCased: String {
    let scalars = Array(chunks.joined(separator: "_").unicodeScalars)
    var snake = ""
    for (index, scalar) in scalars.enumerated() {
      let isUpper = scalar.properties.isUppercase
      let follows = index > 0 && scalars[index - 1] != "_"
      let endsWord =
        follows
        && (!scalars[index - 1].properties.isUppercase
          || index + 1 < scalars.count && scalars[index + 1].properties.isLowercase)
      if isUpper, endsWord { snake += "_" }
      snake += String(Character(scalar)).lowercased()
    }
    return snake.unicodeScalars.first.map { $0.isLetter || $0 == "_" } == true
      ? snake : "_" + snake
  }

  /// The name of one element of a list: `cards` becomes `card`, `entries` becomes `entry`. A word
  /// whose singular is not known is followed by `Item`.
  var singular: String {
    for (plural, singular) in [("children", "child"), ("people", "person")] {
      for (plural, singular) in [
        (plural, singular), (plural.capitalisedFirst, singular.capitalisedFirst),
      ] where hasSuffix(plural) { return dropLast(plural.count) + singular }
    }
    if hasSuffix("ies"), count > 4 { return dropLast(3) + "y" }
    for ending in ["ches", "shes", "sses", "xes", "zes"] where hasSuffix(ending) {
      return String(dropLast(2))
    }
    guard hasSuffix("s"), count > 2, !["ss", "us", "is"].contains(where: hasSuffix) else {
      return self + "Item"
    }
    return String(dropLast())
  }

  /// The position of a payload without a label, whose key is `_0`, `_1` and so on; nil for others.
  var payloadPosition: Int? {
    guard utf8.first == UInt8(ascii: "_"), let position = Int(dropFirst()), position >= 0,
      "_\(position)" == self
    else { return nil }
    return position
  }

  /// True if the text is an identifier in all languages, unless one reserves it.
  var isIdentifier: Bool {
    guard let first = unicodeScalars.first, first.isLetter || first == "_" else { return false }
    return unicodeScalars.allSatisfy(\.isIdentifierPart) && contains { $0 != "_" }
  }
}

extension Unicode.Scalar {
  fileprivate var isLetter: Bool {
    switch properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .otherLetter: true
    default: false
    }
  }

  fileprivate var isIdentifierPart: Bool {
    isLetter || self == "_" || properties.generalCategory == .decimalNumber
  }
}
