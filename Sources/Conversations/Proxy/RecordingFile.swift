// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Foundation

/// A file to which whole lines are appended.
///
/// A process that is killed during a `write` that crosses a page can leave a part of it. Such a line
/// first begins with `#`, as a comment; one more byte, which makes it valid, is written last.
struct RecordingFile: ~Copyable {
  private let descriptor: CInt
  /// The length of the file; nil if it is a pipe or a device.
  private var length: Int?

  private static let pageBytes = 4096

  /// Creates the file, or truncates an existing one. Only its owner can read it, and only one
  /// process can write it.
  ///
  /// - Throws: `FileFault`.
  init(path: String) throws(FileFault) {
    descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw FileFault(description: systemMessage(errno)) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
    if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      let inUse = errno == EWOULDBLOCK
      let reason = inUse ? "another process records into it" : systemMessage(errno)
      // A destructor does not run for a value whose initializer fails.
      close(descriptor)
      throw FileFault(description: reason)
    }
    _ = fchmod(descriptor, 0o600)
    guard ftruncate(descriptor, 0) == 0 else {
      let reason = systemMessage(errno)
      close(descriptor)
      throw FileFault(description: reason)
    }
    length = 0
  }

  deinit { close(descriptor) }

  /// Appends a line.
  ///
  /// - Throws: `FileFault`, for example if the disk is full; the file then ends with a comment.
  mutating func add(_ line: String) throws(FileFault) {
    var bytes = Array("\(line)\n".utf8)
    guard let start = length else { return try write(bytes, at: nil) }
    let isSafe =
      start / Self.pageBytes == (start + bytes.count - 1) / Self.pageBytes || bytes[0] == 0x23
    if !isSafe { bytes.insert(UInt8(ascii: "#"), at: 0) }
    try write(bytes, at: start)
    if !isSafe { try write([UInt8(ascii: " ")], at: start) }
    length = start + bytes.count
  }

  private func write(_ bytes: [UInt8], at start: Int?) throws(FileFault) {
    var offset = 0
    while offset < bytes.count {
      let count = bytes[offset...].withUnsafeBytes { bytes in
        start.map { pwrite(descriptor, bytes.baseAddress, bytes.count, $0 + offset) }
          ?? Foundation.write(descriptor, bytes.baseAddress, bytes.count)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw FileFault(description: systemMessage(errno)) }
      offset += count
    }
  }
}
