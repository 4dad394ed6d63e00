// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import StatewireServer

@Suite("Service manager", .timeLimit(.minutes(15)))
struct ServiceManagerTests {
  private func manager(_ variables: [String: String]) -> ServiceManager? {
    ServiceManager(process: 42) { variables[$0] }
  }

  @Test("there is none without a usable NOTIFY_SOCKET")
  func none() {
    #expect(manager([:]) == nil)
    for path in ["", "relative/path", "vsock:2:1", "/" + String(repeating: "x", count: 200)] {
      #expect(manager(["NOTIFY_SOCKET": path]) == nil, "\(path)")
    }
  }

  @Test(
    "the watchdog expects a notice within half of its time, of this process only",
    arguments: [
      ([:], nil),
      (["WATCHDOG_USEC": "3000000"], .milliseconds(1500)),
      (["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "42"], .milliseconds(1500)),
      (["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "43"], nil),
      (["WATCHDOG_USEC": "0"], nil),
      (["WATCHDOG_USEC": "soon"], nil),
    ] as [([String: String], Duration?)])
  func watchdog(_ variables: [String: String], _ interval: Duration?) throws {
    let variables = variables.merging(["NOTIFY_SOCKET": "/run/notify"]) { $1 }
    #expect(try #require(manager(variables)).watchdogInterval == interval)
  }

  @Test(
    "sends each notice as one datagram, to a file or to a name without a file",
    arguments: [true, false])
  func notices(hasFile: Bool) throws {
    let folder = try TestFolder()
    let path = hasFile ? "\(folder.path)/notify" : "@statewire-test-\(UUID())"
    let socket = try NotifySocket(path)
    let found = try #require(manager(["NOTIFY_SOCKET": path]))
    found.isReady()
    found.reloads()
    found.stops()
    found.isAlive()
    #expect(socket.receive() == "READY=1")
    let reloading = try #require(socket.receive()).split(separator: "\n")
    #expect(reloading.first == "RELOADING=1" && reloading.count == 2)
    #expect(reloading.last?.hasPrefix("MONOTONIC_USEC=") == true)
    #expect(socket.receive() == "STOPPING=1")
    #expect(socket.receive() == "WATCHDOG=1")
  }

  // A server that was told to stop while it started was ready afterwards.
  @Test("sends neither that the server is ready nor that it reloads after it stops")
  func stopping() throws {
    let folder = try TestFolder()
    let socket = try NotifySocket(folder.file("notify"))
    let found = try #require(manager(["NOTIFY_SOCKET": folder.file("notify")]))
    found.stops()
    found.isReady()
    found.reloads()
    found.isReady()
    found.isAlive()
    #expect(socket.receive() == "STOPPING=1")
    #expect(socket.receive() == "WATCHDOG=1")
  }

  @Test("a manager that is gone stops nothing")
  func gone() throws {
    let found = try #require(manager(["NOTIFY_SOCKET": "/nonexistent/notify"]))
    found.isReady()
  }
}

/// The socket of a service manager.
private final class NotifySocket {
  private let descriptor: CInt

  init(_ path: String) throws {
    descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    if path.hasPrefix("@") { address.sun_path.0 = 0 }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    let result = withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
    }
    try #require(result == 0, "bind: \(String(cString: strerror(errno)))")
  }

  deinit { close(descriptor) }

  /// Returns the next datagram; nil if there is none. It was sent before, so there is no waiting.
  func receive() -> String? {
    var buffer = [UInt8](repeating: 0, count: 1024)
    let count = recv(descriptor, &buffer, buffer.count, CInt(MSG_DONTWAIT))
    return count < 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
  }
}
