// SPDX-License-Identifier: Apache-2.0

extension HTTPAddress {
  /// Resolves a `Location`, if it is on the same server: scheme, host and port are equal.
  ///
  /// A server whose URL the operator named must not be able to make this program connect to another
  /// server, for example one that only this machine can reach.
  ///
  /// - Source: RFC 3986 §5.2.
  /// - Returns: Nil if it is on another server or is not a URL.
  func redirected(to location: String) -> HTTPAddress? {
    let bytes = Array(location.utf8)
    // A colon before the first slash, question mark or number sign ends a scheme.
    let mark = bytes.firstIndex(where: ":/?#".utf8.contains)
    if let mark, bytes[mark] == UInt8(ascii: ":") { return sameServer(location) }
    if bytes.starts(with: "//".utf8) { return sameServer(scheme + ":" + location) }
    guard let reference = Self.target(bytes[...]) else { return nil }
    let path = String(target.prefix { $0 != "?" })
    switch bytes.first {
    case nil, UInt8(ascii: "#"):
      return self
    case UInt8(ascii: "/"):
      return replacing(target: Self.withoutDots(reference))
    case UInt8(ascii: "?"):
      return replacing(target: path + reference.dropFirst())
    default:
      // `reference` starts with a slash that `target(_:)` has added.
      let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
      return replacing(target: Self.withoutDots(folder + reference))
    }
  }

  private func sameServer(_ location: String) -> HTTPAddress? {
    guard let other = try? HTTPAddress(location), other.origin == origin else { return nil }
    return replacing(target: Self.withoutDots(other.target))
  }

  /// Removes the segments `.` and `..` of the target's path (§5.2.4).
  private static func withoutDots(_ target: String) -> String {
    let path = target.prefix { $0 != "?" }
    var segments: [Substring] = []
    let all = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    for (index, segment) in all.enumerated() {
      let isLast = index == all.count - 1
      switch segment {
      case ".":
        if isLast { segments.append("") }
      case "..":
        _ = segments.popLast()
        if isLast { segments.append("") }
      default:
        segments.append(segment)
      }
    }
    return "/" + segments.joined(separator: "/") + target[path.endIndex...]
  }
}
