// SPDX-License-Identifier: Apache-2.0

/// The name of a file within a folder, possibly some folders down; it cannot lead out of it.
struct FileName: Hashable, Sendable {
  /// From the folder to the file; at least one, none of them `.` or `..`.
  let components: [String]

  /// - Throws: `SourceError` if the name is absolute, has `..` in it, or names no file.
  init(_ name: String) throws(SourceError) {
    guard !name.utf8.contains(0) else { throw SourceError("a file's name has a NUL in it") }
    // By bytes, as the system does: `/` and a combining accent are one character.
    guard name.utf8.first != UInt8(ascii: "/") else {
      throw SourceError("the file \(name) must be named from the folder of the sources on")
    }
    let components = name.utf8.split(separator: UInt8(ascii: "/"))
      .map { String(decoding: $0, as: UTF8.self) }.filter { $0 != "." }
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
