// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import TransportSupport

/// The file of a Unix socket.
enum UnixSocketFile {
  /// The identity of a file, independent of its path.
  struct Identity: Equatable, Sendable {
    private let device: UInt
    private let inode: UInt
    // The next file may get the same inode. Nothing changes the modification time of a socket.
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

  /// Removes a socket's file, unless another file has replaced it.
  static func remove(_ path: String, _ file: Identity) {
    if Identity(path) == file { unlink(path) }
  }

  /// Removes a socket's file that no server listens on any more.
  /// - Throws: `StartupError` if a server listens there, if the file is not a socket, or if the
  ///   path cannot be used.
  static func removeStale(_ path: String) throws(StartupError) {
    guard !path.isEmpty else {
      throw StartupError("cannot listen on a Unix socket: the path is empty")
    }
    // Checked first: a path that does not fit cannot be connected to.
    guard withAddress(path, { _, _ in true }) != nil else {
      throw StartupError("cannot listen on \(path): the path is longer than 107 bytes")
    }
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw StartupError(
        "cannot listen on \(path): the file is not a socket; remove it or use another path")
    }
    guard try !isListening(path) else {
      throw StartupError(
        "cannot listen on \(path): another server listens there; stop it or use another path")
    }
    unlink(path)
  }

  /// Creates a socket with a new file that only its owner can open. The listener removes the file.
  ///
  /// SwiftNIO could bind it, but removes at the end any file that has the path then.
  /// - Throws: `StartupError`.
  static func bind(_ path: String) throws(StartupError) -> CInt {
    // The file must not exist with other permissions, not even for a moment.
    let mask = umask(0o177)
    defer { umask(mask) }
    let descriptor = ListeningSocket.newSocket(AF_UNIX)
    guard descriptor >= 0 else {
      throw StartupError("cannot listen on \(path): \(systemMessage(errno))")
    }
    guard let result = withAddress(path, { Glibc.bind(descriptor, $0, $1) }) else {
      close(descriptor)
      throw StartupError("cannot listen on \(path): the path is longer than 107 bytes")
    }
    guard result == 0 else {
      let reason = systemMessage(errno)
      close(descriptor)
      throw StartupError("cannot listen on \(path): \(reason)")
    }
    return descriptor
  }

  private static func isListening(_ path: String) throws(StartupError) -> Bool {
    let descriptor = ListeningSocket.newSocket(AF_UNIX)
    guard descriptor >= 0 else {
      throw StartupError("cannot listen on \(path): \(systemMessage(errno))")
    }
    defer { close(descriptor) }
    // A server that is busy or speaks another protocol listens as well.
    return withAddress(path) { connect(descriptor, $0, $1) == 0 || errno != ECONNREFUSED } ?? false
  }

  /// Calls `body` with the address of a path; returns nil if the path is longer than 107 bytes.
  private static func withAddress<Result>(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result? {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let fits = withUnsafeMutableBytes(of: &address.sun_path) { pathBytes in
      guard path.utf8.count < pathBytes.count else { return false }
      pathBytes.copyBytes(from: path.utf8)
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
