// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing
import Transports

@testable import StatewireServer

@Suite("Inherited sockets", .timeLimit(.minutes(15)))
struct InheritedSocketsTests {
  private func sockets(
    first: CInt = 3, count: String, names: String? = nil, process: String = "42"
  ) throws -> InheritedSockets {
    var variables = ["LISTEN_PID": process, "LISTEN_FDS": count]
    variables["LISTEN_FDNAMES"] = names
    return try InheritedSockets(process: 42, first: first) { variables[$0] }
  }

  /// Returns a descriptor that listens on a free port of 127.0.0.1 or ::1, and the port.
  private func listener(isIPv6: Bool = false) throws -> (CInt, Int) {
    let descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    var v6 = sockaddr_in6()
    v6.sin6_family = sa_family_t(AF_INET6)
    v6.sin6_addr = in6addr_loopback
    var v4 = sockaddr_in()
    v4.sin_family = sa_family_t(AF_INET)
    v4.sin_addr.s_addr = inet_addr("127.0.0.1")
    let size = socklen_t(isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size)
    func withAddress(_ body: (UnsafeMutablePointer<sockaddr>) -> CInt) -> CInt {
      isIPv6
        ? withUnsafeMutablePointer(to: &v6) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
        }
        : withUnsafeMutablePointer(to: &v4) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
        }
    }
    try #require(withAddress { bind(descriptor, $0, size) } == 0)
    try #require(listen(descriptor, 10) == 0)
    var length = size
    try #require(withAddress { getsockname(descriptor, $0, &length) } == 0)
    return (descriptor, Int(UInt16(bigEndian: isIPv6 ? v6.sin6_port : v4.sin_port)))
  }

  @Test("there are none for another process")
  func others() throws {
    #expect(try sockets(count: "1", names: "web", process: "43").descriptors.isEmpty)
    #expect(try InheritedSockets(process: 42) { _ in nil }.descriptors.isEmpty)
  }

  @Test("the name of a TCP socket selects its protocol", arguments: ["tcp", "web"], [false, true])
  func named(name: String, isIPv6: Bool) throws {
    let (descriptor, port) = try listener(isIPv6: isIPv6)
    defer { close(descriptor) }
    let found = try sockets(first: descriptor, count: "1", names: name)
    let address = ListenerAddress(host: isIPv6 ? "::1" : "127.0.0.1", port: port)
    #expect(found.tcp == (name == "tcp" ? [address] : []))
    #expect(found.web == (name == "web" ? [address] : []))
    for isSecured in [false, true] {
      let key =
        name == "tcp" ? address.tcp(isSecured: isSecured) : address.web(isSecured: isSecured)
      #expect(found.descriptors[key] == descriptor)
    }
    #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
  }

  @Test("what is not a named, listening socket is an error that names it")
  func refused() throws {
    let (descriptor, _) = try listener()
    defer { close(descriptor) }
    for names in [nil, "statewire.socket", "unix", ""] {
      let error = #expect(throws: StartupError.self) {
        try sockets(first: descriptor, count: "1", names: names)
      }
      #expect("\(try #require(error))".contains("FileDescriptorName"))
    }
    let plain = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    defer { close(plain) }
    for (first, count) in [(plain, "1"), (CInt(1_000_000), "1"), (3, "-1"), (3, "many"), (3, "")] {
      #expect(throws: StartupError.self) { try sockets(first: first, count: count, names: "tcp") }
    }
  }
}
