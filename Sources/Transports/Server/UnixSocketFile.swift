// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The file of a Unix socket.
enum UnixSocketFile {
  /// Removes a socket that nobody listens on any more.
  /// - Throws: `StartupError` if somebody listens there, or if the file is no socket.
  static func makeWay(_ path: String) throws(StartupError) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw StartupError("cannot listen on \(path): a file that is no socket is there")
    }
    guard !isAnswered(path) else {
      throw StartupError("cannot listen on \(path): another server listens there")
    }
    unlink(path)
  }

  private static func isAnswered(_ path: String) -> Bool {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let fits = withUnsafeMutableBytes(of: &address.sun_path) { room in
      guard path.utf8.count < room.count else { return false }
      room.copyBytes(from: path.utf8)
      return true
    }
    guard fits else { return false }
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
  }
}
