// SPDX-License-Identifier: Apache-2.0

/// The name of a project: of its folder, its package, its program and its store kind.
struct ProjectName {
  let text: String

  /// The names of the project's types without their endings, for example `ShoppingList` for
  /// `shopping-list`.
  var typeName: String {
    text.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
  }

  /// The reason why a name cannot be used.
  struct Fault: Error, CustomStringConvertible {
    let description: String
  }

  static let maximumBytes = 64

  /// Names of packages that the project depends on, and a name whose store would be the `TestStore`
  /// of the tests. SwiftPM cannot build two packages with one name.
  private static let reserved: Set<String> = ["async-http-client", "statewire", "test"]

  /// Creates a name.
  ///
  /// - Throws: `Fault` if SwiftPM or Swift could not build a project with this name.
  init(_ text: String) throws(Fault) {
    let words = text.split(separator: "-", omittingEmptySubsequences: false)
    let isPlain = words.allSatisfy { word in
      !word.isEmpty && word.utf8.allSatisfy { Self.isLetter($0) || (0x30...0x39).contains($0) }
    }
    guard isPlain, text.utf8.first.map(Self.isLetter) == true else {
      throw Fault(
        description: """
          '\(text)' is not a name of a project; use letters, digits and single dashes, and begin \
          with a letter, for example shopping-list
          """)
    }
    guard text.utf8.count <= Self.maximumBytes else {
      throw Fault(description: "a name of a project has at most \(Self.maximumBytes) characters")
    }
    let lower = text.lowercased()
    guard !Self.reserved.contains(lower), !lower.hasPrefix("swift-") else {
      throw Fault(
        description:
          "a package that the project depends on may have the name '\(text)'; use another")
    }
    self.text = text
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    default: false
    }
  }
}
