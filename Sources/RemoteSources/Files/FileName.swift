// SPDX-License-Identifier: Apache-2.0

/// The relative path of a file in a folder; it cannot be outside of the folder.
struct FileName: Hashable, Sendable {
  /// The names from the folder to the file; at least one, none of them `.` or `..`.
  let components: [String]

  /// - Throws: `SourceError` if the path is absolute, contains `..` or NUL, or has no name.
  init(_ name: String) throws(SourceError) {
    guard !name.utf8.contains(0) else { throw SourceError("a file's name contains a NUL byte") }
    // Bytes are compared, as in the system: `/` and a combining accent form one `Character`.
    guard name.utf8.first != UInt8(ascii: "/") else {
      throw SourceError("the file \(name) must be relative to the folder of the sources")
    }
    let components = name.utf8.split(separator: UInt8(ascii: "/"))
      .map { String(decoding: $0, as: UTF8.self) }.filter { $0 != "." }
    guard !components.contains("..") else {
      throw SourceError("the file \(name) must not be outside of the folder of the sources")
    }
    guard !components.isEmpty else { throw SourceError("the name of a source's file is missing") }
    self.components = components
  }

  var last: String { components.last ?? "" }
}

extension FileName: CustomStringConvertible {
  var description: String { components.joined(separator: "/") }
}
