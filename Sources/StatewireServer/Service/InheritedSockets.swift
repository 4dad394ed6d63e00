// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Transports

/// The listening sockets that a service manager has opened for this process: socket activation.
///
/// `LISTEN_FDS` is the number of their descriptors, which begin at 3, and `LISTEN_FDNAMES` has their
/// names. The name of a TCP socket selects what the server serves there: `tcp` or `web`. A Unix
/// socket needs no name.
///
/// - Source: sd_listen_fds(3).
struct InheritedSockets: Sendable {
  private(set) var tcp: [ListenerAddress] = []
  private(set) var web: [ListenerAddress] = []
  private(set) var unix: [String] = []
  /// The descriptors of the sockets, by their addresses with and without TLS.
  private(set) var descriptors: [ServerAddress: CInt] = [:]

  /// Finds the sockets, and keeps them from child processes.
  ///
  /// - Parameters:
  ///   - process: The id of this process.
  ///   - first: The first descriptor.
  ///   - variable: Returns the value of an environment variable.
  /// - Throws: `StartupError` if a descriptor is not a listening socket, or has another name.
  init(
    process: pid_t = getpid(), first: CInt = 3,
    variable: (String) -> String? = Environment.variable
  ) throws(StartupError) {
    guard variable("LISTEN_PID") == "\(process)", let text = variable("LISTEN_FDS") else { return }
    guard let count = CInt(text), (0...1024).contains(count) else {
      throw StartupError("LISTEN_FDS must be a number of sockets, but is '\(text)'")
    }
    let names = variable("LISTEN_FDNAMES")?.split(separator: ":", omittingEmptySubsequences: false)
    for index in 0..<Int(count) {
      let name = names.flatMap { index < $0.count ? String($0[index]) : nil } ?? "unknown"
      try add(first + CInt(index), name)
    }
  }

  private mutating func add(_ descriptor: CInt, _ name: String) throws(StartupError) {
    let what = "the inherited socket \(descriptor) with the name '\(name)'"
    guard Self.option(SO_TYPE, of: descriptor) == CInt(SOCK_STREAM.rawValue),
      Self.option(SO_ACCEPTCONN, of: descriptor) == 1
    else { throw StartupError("\(what) is not a listening stream socket") }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    guard let address = Self.address(of: descriptor) else {
      throw StartupError("\(what) has an address that is neither TCP nor the path of a Unix socket")
    }
    switch address {
    case .unix(let path):
      unix.append(path)
      descriptors[address] = descriptor
    case .tcp(let host, let port) where name == "tcp":
      let listener = ListenerAddress(host: host, port: port)
      tcp.append(listener)
      for isSecured in [false, true] {
        descriptors[listener.tcp(isSecured: isSecured)] = descriptor
      }
    case .tcp(let host, let port) where name == "web":
      let listener = ListenerAddress(host: host, port: port)
      web.append(listener)
      for isSecured in [false, true] {
        descriptors[listener.web(isSecured: isSecured)] = descriptor
      }
    default:
      throw StartupError(
        "\(what) must have the name tcp or web; set FileDescriptorName= in its unit")
    }
  }

  private static func option(_ name: CInt, of descriptor: CInt) -> CInt? {
    var (value, length) = (CInt(0), socklen_t(MemoryLayout<CInt>.size))
    return getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
  }

  /// Returns the address that a socket listens on; nil if it is of another kind, or a Unix socket
  /// without a file.
  private static func address(of descriptor: CInt) -> ServerAddress? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutableBytes(of: &storage) { bytes -> ServerAddress? in
      guard let base = bytes.baseAddress else { return nil }
      let generic = base.assumingMemoryBound(to: sockaddr.self)
      guard getsockname(descriptor, generic, &length) == 0 else { return nil }
      switch CInt(generic.pointee.sa_family) {
      case AF_UNIX:
        guard let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) else { return nil }
        let path = bytes[min(start, Int(length))..<Int(length)].prefix { $0 != 0 }
        return path.isEmpty ? nil : .unix(path: String(decoding: path, as: UTF8.self))
      case AF_INET, AF_INET6:
        var (host, port) = ([CChar](repeating: 0, count: 64), [CChar](repeating: 0, count: 8))
        guard
          getnameinfo(
            generic, length, &host, socklen_t(host.count), &port, socklen_t(port.count),
            NI_NUMERICHOST | NI_NUMERICSERV) == 0,
          let number = Int(Self.text(port))
        else { return nil }
        return .tcp(host: Self.text(host), port: number)
      default: return nil
      }
    }
  }

  private static func text(_ characters: [CChar]) -> String {
    String(decoding: characters.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
