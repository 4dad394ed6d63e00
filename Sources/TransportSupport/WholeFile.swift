// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The bytes of a file, of a pipe or of a device, read to the end.
package struct WholeFile {
  package let bytes: [UInt8]
  /// The kind and the permissions, as in `stat`.
  package let mode: UInt32

  /// Why something could not be read; the description is the reason alone, for a sentence that names the
  /// file.
  package struct Fault: Error, CustomStringConvertible {
    package let description: String
  }

  /// How many bytes are read unless the caller says otherwise: a device need not have an end.
  package static let maximumBytes = 1 << 30

  /// Opens `path` and reads it to the end. The calling thread waits for a pipe's writer.
  package init(_ path: String, maximumBytes: Int = maximumBytes) throws(Fault) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Fault(errno) }
    defer { close(descriptor) }
    try self.init(descriptor: descriptor, maximumBytes: maximumBytes)
  }

  /// Reads what is left of an open file, and leaves it open.
  package init(descriptor: CInt, maximumBytes: Int = maximumBytes) throws(Fault) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Fault(errno) }
    mode = status.st_mode
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = read(descriptor, &chunk, chunk.count)
      if count == 0 { break }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Fault(errno) }
      guard bytes.count + count <= maximumBytes else {
        throw Fault(description: "it has more than \(maximumBytes) bytes")
      }
      bytes += chunk[..<count]
    }
    self.bytes = bytes
  }

  package var isRegular: Bool { mode & S_IFMT == S_IFREG }
}

extension WholeFile.Fault {
  fileprivate init(_ errorNumber: CInt) { description = systemMessage(errorNumber) }
}
