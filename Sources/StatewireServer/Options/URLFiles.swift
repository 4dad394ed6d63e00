// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Transports

/// A reader of URLs in files: `@FILE` on the command line instead of the URL.
///
/// All users of a machine can see the arguments of a process, and a URL may contain a key.
struct URLFiles {
  /// The files that other users may read or change.
  private(set) var exposed: [String] = []

  private static let maximumBytes = 64 << 10

  /// Returns the path in a value `@FILE`, or `NAME=@FILE` if it has a name; nil for any other
  /// value.
  static func path(in value: String, hasName: Bool) -> String? {
    var rest = value.utf8[...]
    if hasName { rest = rest.drop { $0 != UInt8(ascii: "=") }.dropFirst() }
    return rest.first == UInt8(ascii: "@") ? String(decoding: rest.dropFirst(), as: UTF8.self) : nil
  }

  /// Returns the value with the URL instead of the file, without white space at its end.
  ///
  /// - Throws: `StartupError`, without any contents of the file.
  mutating func resolve(_ value: String, hasName: Bool) throws(StartupError) -> String {
    guard let path = Self.path(in: value, hasName: hasName) else { return value }
    let file: WholeFile
    do throws(WholeFile.Fault) {
      file = try WholeFile(path, maximumBytes: Self.maximumBytes)
    } catch {
      throw StartupError("the URL in \(path) cannot be read: \(error)", cause: error)
    }
    if file.isRegular, file.mode & 0o077 != 0 { exposed.append(path) }
    let isBlank = { (byte: UInt8) in " \t\r\n".utf8.contains(byte) }
    var url = file.bytes[...]
    while let last = url.last, isBlank(last) { url.removeLast() }
    let name = String(decoding: value.utf8.dropLast(path.utf8.count + 1), as: UTF8.self)
    return name + String(decoding: url, as: UTF8.self)
  }
}
