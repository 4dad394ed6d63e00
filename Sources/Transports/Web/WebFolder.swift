// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import Synchronization

/// A folder whose files are read for each request, for authors of a page.
///
/// No file outside of it can be read: a path consists of plain names, each is opened relative to
/// the one before, and links are not followed.
struct WebFolder: Sendable {
  let path: String

  // Larger files are not served.
  static let maximumBytes = 16 << 20

  var exists: Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Splits the path of a request into names; nil if it cannot be a file's path.
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

  /// The result of reading a file.
  enum Reading: Sendable {
    case file(WebFile, Claim)
    /// The file does not exist or cannot be read.
    case missing
    /// Too much memory is in use for other responses, or there is no descriptor left.
    case busy
  }

  /// Reads a file; blocks while the disk does.
  func read(_ names: [String]) -> Reading {
    var descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    for (index, name) in names.enumerated() where descriptor >= 0 {
      let isLast = index == names.count - 1
      // Opening a pipe that has no writer must not block.
      let kind = isLast ? O_NONBLOCK : O_DIRECTORY
      let next = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | kind)
      Glibc.close(descriptor)
      descriptor = next
    }
    // A file that cannot be opened only now must not be replaced by another file of the same path.
    guard descriptor >= 0 else { return [EMFILE, ENFILE].contains(errno) ? .busy : .missing }
    defer { Glibc.close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_size <= Self.maximumBytes
    else { return .missing }
    let size = Int(status.st_size)
    // Taken before the file is read: clients may request many files and read none.
    guard let claim = Claim(bytes: size) else { return .busy }
    guard let content = contents(descriptor, size) else { return .missing }
    return .file(WebFile(name: names.last ?? "", content: content), claim)
  }

  /// Reads the file up to its size at the time of opening; nil if it cannot be read.
  private func contents(_ descriptor: CInt, _ size: Int) -> ByteBuffer? {
    var buffer = ByteBufferAllocator().buffer(capacity: size)
    while buffer.readableBytes < size {
      let rest = size - buffer.readableBytes
      let count = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: rest) { space in
        max(0, Glibc.read(descriptor, space.baseAddress, rest))
      }
      if count == 0 { return nil }
    }
    return buffer
  }
}

extension WebFolder {
  /// A part of the memory for files that are being sent; released when the last reference is.
  final class Claim: Sendable {
    private let bytes: Int

    // 64 MiB for all servers of the process together.
    private static let maximumBytes = 64 << 20
    private static let claimed = Atomic<Int>(0)

    /// Nil if too much memory is claimed.
    init?(bytes: Int) {
      self.bytes = bytes
      guard Self.claimed.add(bytes, ordering: .relaxed).newValue <= Self.maximumBytes else {
        // `deinit` also runs after a failed initializer and returns the bytes.
        return nil
      }
    }

    deinit { Self.claimed.subtract(bytes, ordering: .relaxed) }
  }
}
