// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import Synchronization

/// A folder whose files are served as they are now, for whoever writes a page.
///
/// Nothing outside of it can be named: a path is plain names, each is opened below the one before, and
/// no link is followed.
struct WebFolder: Sendable {
  let path: String

  // What is larger is no part of a page.
  static let maximumBytes = 16 << 20

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

  /// What has come of reading a file.
  enum Reading: Sendable {
    case file(WebFile, Claim)
    /// There is none, or it cannot be read.
    case missing
    /// Others have asked for so much that there is no room for it now, or no descriptor.
    case busy
  }

  /// Reads a file, waiting for the disk.
  func read(_ names: [String]) -> Reading {
    var descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    for (index, name) in names.enumerated() where descriptor >= 0 {
      let isLast = index == names.count - 1
      // One that waits for a writer must not hold us up.
      let kind = isLast ? O_NONBLOCK : O_DIRECTORY
      let next = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | kind)
      Glibc.close(descriptor)
      descriptor = next
    }
    // What is there, and cannot be opened just now, is not another file of that name.
    guard descriptor >= 0 else { return [EMFILE, ENFILE].contains(errno) ? .busy : .missing }
    defer { Glibc.close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_size <= Self.maximumBytes
    else { return .missing }
    let size = Int(status.st_size)
    // Before it is read: peers may ask for many, and read none.
    guard let claim = Claim(bytes: size) else { return .busy }
    guard let content = contents(descriptor, size) else { return .missing }
    return .file(WebFile(name: names.last ?? "", content: content), claim)
  }

  /// Reads as much of a file as it had when it was opened; nil if it cannot be read.
  private func contents(_ descriptor: CInt, _ size: Int) -> ByteBuffer? {
    var buffer = ByteBufferAllocator().buffer(capacity: size)
    while buffer.readableBytes < size {
      let rest = size - buffer.readableBytes
      let count = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: rest) { room in
        max(0, Glibc.read(descriptor, room.baseAddress, rest))
      }
      if count == 0 { return nil }
    }
    return buffer
  }
}

extension WebFolder {
  /// A part of the memory that files may take until they are sent, given back when nobody has it any
  /// more.
  final class Claim: Sendable {
    private let bytes: Int

    // For all servers of the process together.
    private static let maximumBytes = 64 << 20
    private static let claimed = Atomic<Int>(0)

    /// Nil if there is no room.
    init?(bytes: Int) {
      self.bytes = bytes
      guard Self.claimed.add(bytes, ordering: .relaxed).newValue <= Self.maximumBytes else {
        // A class lets go of what it has also where it was not made.
        return nil
      }
    }

    deinit { Self.claimed.subtract(bytes, ordering: .relaxed) }
  }
}
