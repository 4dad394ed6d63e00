// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The file of a Unix socket.
enum UnixSocketFile {
  /// Which file it is, whatever it is called.
  struct Identity: Equatable, Sendable {
    private let device: UInt
    private let inode: UInt

    /// Nil if there is no such file.
    init?(_ path: String) {
      var status = stat()
      guard lstat(path, &status) == 0 else { return nil }
      device = UInt(status.st_dev)
      inode = UInt(status.st_ino)
    }
  }

  /// Removes a socket, unless something else has come to stand in its place.
  static func remove(_ path: String, _ file: Identity) {
    if Identity(path) == file { unlink(path) }
  }

  /// Removes a socket that nobody listens on any more.
  /// - Throws: `StartupError` if somebody listens there, or if the file is no socket.
  static func makeWay(_ path: String) throws(StartupError) {
    guard !path.isEmpty else { throw StartupError("cannot listen on a socket without a name") }
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
    let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue
    let descriptor = socket(AF_UNIX, Int32(kind), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        // One that is there and busy, or speaks in another way, is there too.
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
          || errno != ECONNREFUSED
      }
    }
  }
}
