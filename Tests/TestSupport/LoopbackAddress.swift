// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// 127.0.0.1 with a port.
///
/// Here, because in a module that imports SwiftNIO the compiler may find the members of `sockaddr_in` in
/// a module of SwiftNIO that no file can import.
public struct LoopbackAddress {
  private var address = sockaddr_in()

  /// - Parameter port: The port; 0 for one that the system selects.
  public init(port: Int = 0) {
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
    address.sin_port = in_port_t(port).bigEndian
  }

  /// Binds a socket to a port that the system selects.
  ///
  /// - Parameter queue: The number of clients that may wait; nil if the socket does not listen.
  /// - Returns: The port; nil if that fails.
  public static func selectPort(for descriptor: CInt, queue: CInt? = nil) -> Int? {
    guard LoopbackAddress().with({ bind(descriptor, $0, $1) }) == 0 else { return nil }
    if let queue, listen(descriptor, queue) != 0 { return nil }
    return port(of: descriptor, getsockname)
  }

  /// Returns the port of one end of a socket over IPv4; nil for other descriptors.
  ///
  /// - Parameter end: `getsockname` or `getpeername`.
  public static func port(
    of descriptor: CInt,
    _ end: (CInt, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt
  ) -> Int? {
    var (address, size) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
    let result = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { end(descriptor, $0, &size) }
    }
    guard result == 0, address.sin_family == sa_family_t(AF_INET) else { return nil }
    return Int(UInt16(bigEndian: address.sin_port))
  }

  /// Connects a socket.
  ///
  /// - Returns: 0, or -1 with `errno`.
  @discardableResult
  public func connect(_ descriptor: CInt) -> CInt {
    with { Foundation.connect(descriptor, $0, $1) }
  }

  private func with(_ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
    withUnsafePointer(to: address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }
}
