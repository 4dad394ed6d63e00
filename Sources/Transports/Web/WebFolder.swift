// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore

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

  /// The result of opening a file.
  enum Opening: Sendable {
    case file(WebFile)
    /// The folder has no such file.
    case missing
    /// The file exists, but cannot be served: it is a link, not a file, too large, or unreadable.
    case unusable
    /// There is no descriptor left.
    case busy
  }

  /// Opens a file and reads its beginning; blocks while the disk does.
  func open(_ names: [String]) -> Opening {
    var descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    for name in names where descriptor >= 0 {
      // Opening a pipe that has no writer must not block.
      let next = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
      let error = errno
      close(descriptor)
      errno = error
      descriptor = next
    }
    guard descriptor >= 0 else {
      // Only a file that does not exist may be replaced by another file of the same path.
      return switch errno {
      case ENOENT, ENOTDIR: .missing
      case EMFILE, ENFILE: .busy
      default: .unusable
      }
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_size <= Self.maximumBytes
    else {
      close(descriptor)
      return .unusable
    }
    let file = FolderFile(descriptor, byteCount: Int(status.st_size))
    return WebFile(name: names.last ?? "", file).map { .file($0) } ?? .unusable
  }
}

/// An open file of a folder, which is closed when the last reference is released.
final class FolderFile: Sendable {
  private let descriptor: CInt
  /// The size when the file was opened; bytes that are appended later are not read.
  let byteCount: Int

  /// The most bytes of one read: 16 KiB, which a channel takes before it is congested. For a
  /// client that does not read, one piece is in memory, of a file of any size.
  static let pieceBytes = 16 << 10

  /// Takes over a descriptor.
  fileprivate init(_ descriptor: CInt, byteCount: Int) {
    (self.descriptor, self.byteCount) = (descriptor, byteCount)
  }

  deinit { close(descriptor) }

  /// Reads the piece at an offset; blocks while the disk does.
  ///
  /// - Returns: Nil if it cannot be read, also if the file is shorter now.
  func piece(at offset: Int) -> ByteBuffer? {
    let byteCount = min(Self.pieceBytes, byteCount - offset)
    var piece = ByteBufferAllocator().buffer(capacity: byteCount)
    while piece.readableBytes < byteCount {
      let start = offset + piece.readableBytes
      let rest = byteCount - piece.readableBytes
      let count = piece.writeWithUnsafeMutableBytes(minimumWritableBytes: rest) { space in
        max(0, pread(descriptor, space.baseAddress, rest, start))
      }
      if count == 0 { return nil }
    }
    return piece
  }
}

extension WebFile {
  /// Creates the file of a folder; nil if it cannot be read.
  ///
  /// It is read twice if it has several pieces: the tag of its content comes before the content.
  fileprivate init?(name: String, _ file: FolderFile) {
    guard let beginning = file.piece(at: 0) else { return nil }
    var tag = ContentTag()
    tag.add(beginning)
    while tag.byteCount < file.byteCount {
      guard let piece = file.piece(at: tag.byteCount) else { return nil }
      tag.add(piece)
    }
    self.init(
      name: name, content: beginning, tag,
      whole: file.byteCount > beginning.readableBytes ? file : nil)
  }
}
