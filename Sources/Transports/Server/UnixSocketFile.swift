// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import TransportSupport

/// The file of a Unix socket.
enum UnixSocketFile {
  /// Which file it is, whatever it is called.
  struct Identity: Equatable, Sendable {
    private let device: UInt
    private let inode: UInt
    // An inode is used again at once for the next file; nothing changes this of a socket.
    private let made: [Int]

    /// Nil if there is no such file.
    init?(_ path: String) {
      var status = stat()
      guard lstat(path, &status) == 0 else { return nil }
      device = UInt(status.st_dev)
      inode = UInt(status.st_ino)
      made = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
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
    // Nobody could be asked there whether it listens.
    guard withAddress(path, { _, _ in true }) != nil else {
      throw StartupError("cannot listen on \(path): its name is too long for a socket")
    }
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw StartupError("cannot listen on \(path): a file that is no socket is there")
    }
    guard try !isAnswered(path) else {
      throw StartupError("cannot listen on \(path): another server listens there")
    }
    unlink(path)
  }

  /// A socket with a new file, for its owner alone; who listens with it removes the file.
  ///
  /// Not by SwiftNIO, which removes in the end whatever is called so by then.
  /// - Throws: `StartupError`.
  static func bind(_ path: String) throws(StartupError) -> CInt {
    // The file must never be there with other permissions, not for a moment.
    let mask = umask(0o177)
    defer { umask(mask) }
    let descriptor = newSocket()
    guard descriptor >= 0 else {
      throw StartupError("cannot listen on \(path): \(systemMessage(errno))")
    }
    guard let result = withAddress(path, { Glibc.bind(descriptor, $0, $1) }) else {
      close(descriptor)
      throw StartupError("cannot listen on \(path): its name is too long for a socket")
    }
    guard result == 0 else {
      let reason = systemMessage(errno)
      close(descriptor)
      throw StartupError("cannot listen on \(path): \(reason)")
    }
    return descriptor
  }

  private static func isAnswered(_ path: String) throws(StartupError) -> Bool {
    let descriptor = newSocket()
    guard descriptor >= 0 else {
      throw StartupError("cannot listen on \(path): \(systemMessage(errno))")
    }
    defer { close(descriptor) }
    // One that is there and busy, or speaks in another way, is there too.
    return withAddress(path) { connect(descriptor, $0, $1) == 0 || errno != ECONNREFUSED } ?? false
  }

  private static func newSocket() -> CInt {
    let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
    return socket(AF_UNIX, Int32(kind), 0)
  }

  /// Nil if the path is too long for an address.
  private static func withAddress<Result>(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result? {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let fits = withUnsafeMutableBytes(of: &address.sun_path) { room in
      guard path.utf8.count < room.count else { return false }
      room.copyBytes(from: path.utf8)
      return true
    }
    guard fits else { return nil }
    return withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
