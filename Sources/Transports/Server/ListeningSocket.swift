// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
package import TransportSupport

/// A socket that listens. Its clients wait until an event loop accepts them.
package struct ListeningSocket {
  /// The address; with port 0 if the system has selected the port.
  let address: ServerAddress
  let descriptor: CInt

  /// Takes a socket that listens already.
  init(_ descriptor: CInt, at address: ServerAddress) {
    (self.address, self.descriptor) = (address, descriptor)
  }

  /// Opens a socket.
  ///
  /// - Throws: `StartupError`.
  package init(at address: ServerAddress) throws(StartupError) {
    self.address = address
    switch address {
    case .unix(let path):
      try UnixSocketFile.removeStale(path)
      descriptor = try UnixSocketFile.bind(path)
    case .tcp(let host, let port), .tls(let host, let port), .web(let host, let port),
      .secureWeb(let host, let port):
      descriptor = try Self.bind(Self.resolve(host, port, address), address)
    }
    guard setBacklog() == 0 else {
      let error = errno
      close()
      throw Self.failure(address, error)
    }
  }

  /// Makes the socket listen, or sets the number of its clients that may wait.
  ///
  /// - Returns: 0, or -1 with `errno`.
  @discardableResult
  func setBacklog() -> CInt { Glibc.listen(descriptor, 1024) }

  /// Closes a socket that this server has opened, and that no event loop has.
  func close() {
    if case .unix(let path) = address { unlink(path) }
    Glibc.close(descriptor)
  }

  private static func bind(
    _ socketAddress: SocketAddress, _ address: ServerAddress
  ) throws(StartupError) -> CInt {
    let descriptor = newSocket(socketAddress.protocol.rawValue)
    guard descriptor >= 0 else { throw failure(address, errno) }
    set(SO_REUSEADDR, at: SOL_SOCKET, to: 1, of: descriptor)
    // An IPv6 socket for all addresses has the clients of IPv4, too.
    set(IPV6_V6ONLY, at: CInt(IPPROTO_IPV6), to: 0, of: descriptor)
    let result = socketAddress.withSockAddr { Glibc.bind(descriptor, $0, socklen_t($1)) }
    guard result == 0 else {
      let error = errno
      Glibc.close(descriptor)
      throw failure(address, error)
    }
    return descriptor
  }

  /// Creates a socket of an address family that does not block, and that children do not inherit.
  ///
  /// - Returns: The descriptor, or -1 with `errno`.
  static func newSocket(_ family: CInt) -> CInt {
    let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
    return socket(family, Int32(kind), 0)
  }

  private static func set(_ option: CInt, at level: CInt, to value: CInt, of descriptor: CInt) {
    var value = value
    setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<CInt>.size))
  }

  private static func resolve(
    _ host: String, _ port: Int, _ address: ServerAddress
  ) throws(StartupError) -> SocketAddress {
    // The resolver asks the system for its network interfaces, also for an address.
    if let known = try? SocketAddress(ipAddress: host, port: port) { return known }
    do {
      return try .makeAddressResolvingHost(host, port: port)
    } catch {
      throw StartupError("cannot listen on \(address): \(error)", cause: error)
    }
  }

  private static func failure(_ address: ServerAddress, _ error: CInt) -> StartupError {
    StartupError("cannot listen on \(address): \(systemMessage(error))")
  }
}

extension ServerAddress {
  /// Returns the address with the port that the system has assigned; a Unix socket has none.
  func with(port: Int?) -> ServerAddress {
    guard let port else { return self }
    return switch self {
    case .tcp(let host, _): .tcp(host: host, port: port)
    case .tls(let host, _): .tls(host: host, port: port)
    case .web(let host, _): .web(host: host, port: port)
    case .secureWeb(let host, _): .secureWeb(host: host, port: port)
    case .unix: self
    }
  }
}
