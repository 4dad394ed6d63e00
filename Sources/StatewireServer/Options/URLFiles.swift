// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import Transports

/// A reader of URLs in files: `@FILE` in an option instead of the URL.
///
/// All users of a machine can see the arguments of a process, and a URL may contain a key.
struct URLFiles {
  let credentials: CredentialFolder
  let logger: Logger

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
  func resolve(_ value: String, hasName: Bool) throws(StartupError) -> String {
    guard let path = Self.path(in: value, hasName: hasName) else { return value }
    let file: String
    do throws(CredentialFolder.Fault) {
      file = try credentials.path(path)
    } catch {
      throw StartupError(error.reason)
    }
    let url = try SecretFile(file, "the URL", maximumBytes: Self.maximumBytes, logger).text
    return String(decoding: value.utf8.dropLast(path.utf8.count + 1), as: UTF8.self) + url
  }
}
