// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A regular file that is open for reading; it closes at the end of its lifetime.
struct OpenFile: ~Copyable {
  private let descriptor: Int32
  /// The size in bytes at the time of opening.
  let size: Int

  /// Opens a file in a folder.
  ///
  /// Each component is opened relative to the one before, and links are not followed. So a link
  /// that another process creates, before or during the call, has no effect. The folder itself
  /// belongs to the operator and may be a link. Pipes and devices are not opened: opening one can
  /// block or have side effects.
  ///
  /// - Throws: `missing`, `notAFile` or `unreadable`.
  init(_ name: FileName, in folder: String) throws(RemoteFailure) {
    var place = try Place(folder: folder)
    for component in name.components.dropLast() { place = try place.folder(component) }
    (descriptor, size) = try place.file(name.last)
  }

  /// Reads up to `count` bytes and appends them; blocks.
  /// - Returns: Number of bytes that were read; 0 at the end of the file.
  /// - Throws: `interrupted`.
  func read(_ count: Int, to bytes: inout [UInt8]) throws(RemoteFailure) -> Int {
    guard count > 0 else { return 0 }
    let descriptor = descriptor
    return try withUnsafeTemporaryAllocation(byteCount: count, alignment: 16) {
      buffer throws(RemoteFailure) in
      let length = retrying { Self.read(descriptor, buffer) }
      guard length >= 0 else { throw RemoteFailure.interrupted }
      bytes.append(contentsOf: buffer[..<length])
      return length
    }
  }

  private static func read(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    #if canImport(Glibc)
      Glibc.read(descriptor, buffer.baseAddress, buffer.count)
    #elseif canImport(Musl)
      Musl.read(descriptor, buffer.baseAddress, buffer.count)
    #else
      Darwin.read(descriptor, buffer.baseAddress, buffer.count)
    #endif
  }

  deinit { _ = close(descriptor) }

  /// Returns true if the folder exists and can be opened.
  static func isFolder(_ path: String) -> Bool { (try? Place(folder: path).isOpen) ?? false }
}

/// An open folder on the path to a file.
private struct Place: ~Copyable {
  private let descriptor: Int32

  private init(descriptor: Int32) { self.descriptor = descriptor }

  init(folder: String) throws(RemoteFailure) {
    let found = retrying { open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard found >= 0 else { throw RemoteFailure(errno: errno) }
    descriptor = found
  }

  deinit { _ = close(descriptor) }

  var isOpen: Bool { descriptor >= 0 }

  func folder(_ name: String) throws(RemoteFailure) -> Place {
    // A link to a folder is not accepted.
    guard try status(name).st_mode & S_IFMT == S_IFDIR else { throw .notAFile }
    return Place(descriptor: try opened(name, O_DIRECTORY))
  }

  func file(_ name: String) throws(RemoteFailure) -> (descriptor: Int32, size: Int) {
    guard try status(name).st_mode & S_IFMT == S_IFREG else { throw .notAFile }
    // Non-blocking, in case it has become a pipe meanwhile.
    let file = try opened(name, O_NONBLOCK | O_NOCTTY)
    var found = stat()
    guard fstat(file, &found) == 0, found.st_mode & S_IFMT == S_IFREG else {
      _ = close(file)
      throw .notAFile
    }
    return (file, Int(found.st_size))
  }

  private func status(_ name: String) throws(RemoteFailure) -> stat {
    var found = stat()
    guard fstatat(descriptor, name, &found, AT_SYMLINK_NOFOLLOW) == 0 else {
      throw RemoteFailure(errno: errno)
    }
    return found
  }

  private func opened(_ name: String, _ flags: Int32) throws(RemoteFailure) -> Int32 {
    let found = retrying {
      openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | flags)
    }
    guard found >= 0 else { throw RemoteFailure(errno: errno) }
    return found
  }
}

extension RemoteFailure {
  /// Converts the error number of a failed open.
  init(errno: Int32) {
    switch errno {
    case ENOENT: self = .missing
    // The errors of O_NOFOLLOW for a link, without and with O_DIRECTORY.
    case ELOOP, ENOTDIR: self = .notAFile
    default: self = .unreadable
    }
  }
}

/// Repeats a call that was interrupted by a signal.
private func retrying<Number: SignedInteger>(_ body: () -> Number) -> Number {
  while true {
    let result = body()
    if result != -1 || errno != EINTR { return result }
  }
}
