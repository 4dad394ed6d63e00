// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The bytes of a file, a pipe or a device, read to the end.
package struct WholeFile {
  /// The contents.
  package let bytes: [UInt8]
  /// The file type and the permissions, as in `st_mode` of `stat(2)`.
  package let mode: UInt32

  /// The reason why a file could not be read. The description is the reason alone; the caller's
  /// sentence names the file.
  package struct Fault: Error, CustomStringConvertible {
    /// The reason, for example `Permission denied`.
    package let description: String
  }

  /// The default limit of the size, 1 GiB. There is a limit because a device can have no end.
  package static let maximumBytes = 1 << 30

  /// Opens `path` and reads it to the end. For a pipe, the call blocks until the writer has closed
  /// it.
  ///
  /// - Throws: `Fault` if the file cannot be opened or read, or has more than `maximumBytes` bytes.
  package init(_ path: String, maximumBytes: Int = maximumBytes) throws(Fault) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Fault(errno) }
    defer { close(descriptor) }
    try self.init(descriptor: descriptor, maximumBytes: maximumBytes)
  }

  /// Reads an open file from its current position to the end, and leaves it open.
  ///
  /// - Throws: `Fault` if the file cannot be read, or has more than `maximumBytes` bytes.
  package init(descriptor: CInt, maximumBytes: Int = maximumBytes) throws(Fault) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Fault(errno) }
    mode = UInt32(status.st_mode)
    // An array would be filled with zeros first, which takes longer than to read a small file.
    bytes = try withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 1) { chunk in
      Self.contents(of: descriptor, maximumBytes: maximumBytes, readInto: chunk)
    }.get()
  }

  private static func contents(
    of descriptor: CInt, maximumBytes: Int, readInto chunk: UnsafeMutableRawBufferPointer
  ) -> Result<[UInt8], Fault> {
    var bytes: [UInt8] = []
    while true {
      let count = read(descriptor, chunk.baseAddress, chunk.count)
      if count == 0 { return .success(bytes) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return .failure(Fault(errno)) }
      guard bytes.count + count <= maximumBytes else {
        return .failure(Fault(description: "it has more than \(maximumBytes) bytes"))
      }
      bytes += chunk[..<count]
    }
  }

  /// True if it is a regular file, not a pipe, a device or a folder.
  package var isRegular: Bool { mode & UInt32(S_IFMT) == UInt32(S_IFREG) }
}

extension WholeFile.Fault {
  fileprivate init(_ errorNumber: CInt) { description = systemMessage(errorNumber) }
}
