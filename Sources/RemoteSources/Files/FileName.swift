// SPDX-License-Identifier: Apache-2.0

/// The name of a file within a folder, possibly some folders down; it cannot lead out of it.
struct FileName: Hashable, Sendable {
  /// From the folder to the file; at least one, none of them `.` or `..`.
  let components: [String]

  /// - Throws: `SourceError` if the name is absolute, has `..` in it, or names no file.
  init(_ name: String) throws(SourceError) {
    guard !name.utf8.contains(0) else { throw SourceError("a file's name has a NUL in it") }
    guard !name.hasPrefix("/") else {
      throw SourceError("the file \(name) must be named from the folder of the sources on")
    }
    let components = name.split(separator: "/").map(String.init).filter { $0 != "." }
    guard !components.contains("..") else {
      throw SourceError("the file \(name) must not lead out of the folder of the sources")
    }
    guard !components.isEmpty else { throw SourceError("a source has no file's name") }
    self.components = components
  }

  var last: String { components.last ?? "" }
}

extension FileName: CustomStringConvertible {
  var description: String { components.joined(separator: "/") }
}
