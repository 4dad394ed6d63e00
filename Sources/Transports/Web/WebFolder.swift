// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore

/// A folder whose files are served as they are now, for whoever writes a page.
///
/// Nothing outside of it can be named: a path is plain names, each is opened below the one before, and
/// no link is followed.
struct WebFolder: Sendable {
  let path: String

  // What is larger is no part of a page.
  private static let maximumBytes = 16 << 20

  var exists: Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// The names that a path of a request consists of; nil if it can be no file's.
  static func names(in path: String) -> [String]? {
    guard path.hasPrefix("/") else { return nil }
    let names = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    let arePlain = names.allSatisfy { name in
      !name.isEmpty && !name.hasPrefix(".")
        && name.utf8.allSatisfy { byte in
          switch byte {
          case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
          default: "._-".utf8.contains(byte)
          }
        }
    }
    return arePlain ? names.map(String.init) : nil
  }

  /// Reads a file, waiting for the disk; nil if there is none, or it cannot be read.
  func read(_ names: [String]) -> ByteBuffer? {
    var descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    for (index, name) in names.enumerated() where descriptor >= 0 {
      let isLast = index == names.count - 1
      // One that waits for a writer must not hold us up.
      let kind = isLast ? O_NONBLOCK : O_DIRECTORY
      let next = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | kind)
      Glibc.close(descriptor)
      descriptor = next
    }
    guard descriptor >= 0 else { return nil }
    defer { Glibc.close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_size <= Self.maximumBytes
    else { return nil }
    return contents(descriptor, expected: Int(status.st_size))
  }

  private func contents(_ descriptor: CInt, expected: Int) -> ByteBuffer? {
    var buffer = ByteBufferAllocator().buffer(capacity: expected)
    while buffer.readableBytes <= Self.maximumBytes {
      let count = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: 4096) { room in
        max(0, Glibc.read(descriptor, room.baseAddress, room.count))
      }
      if count == 0 { return buffer }
    }
    return nil
  }
}
