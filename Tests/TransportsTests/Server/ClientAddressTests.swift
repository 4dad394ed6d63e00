// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import ServerCore
import Testing

@testable import Transports

@Suite("Addresses and users of clients")
struct ClientAddressTests {
  @Test(
    "an address counts by its machine, or for IPv6 by its network",
    arguments: [
      ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false),
      ("192.0.2.1", "::ffff:192.0.2.1", true), ("192.0.2.1", "::c000:201", false),
      ("2001:db8::1", "2001:db8::ffff:2", true), ("2001:db8:0:1::1", "2001:db8:0:2::1", false),
      ("::1", "127.0.0.1", false), ("0.0.0.0", "::", false),
    ])
  func addresses(one: String, other: String, isSame: Bool) throws {
    let first = ClientAddress(try SocketAddress(ipAddress: one, port: 1))
    let second = ClientAddress(try SocketAddress(ipAddress: other, port: 2))
    #expect(first != nil && second != nil)
    #expect((first == second) == isSame)
  }

  @Test(
    "loopback addresses are recognised",
    arguments: [
      ("127.0.0.1", true), ("127.9.8.7", true), ("::1", true), ("::ffff:127.0.0.1", true),
      ("128.0.0.1", false), ("192.0.2.127", false), ("::", false), ("::2", false),
      ("1::1", false), ("::ffff:192.0.2.1", false),
    ])
  func loopback(address: String, isLoopback: Bool) throws {
    let address = ClientAddress(try SocketAddress(ipAddress: address, port: 1))
    #expect(address?.isLoopback == isLoopback)
    var limits = ServerLimits()
    limits.connections = 1000
    #expect(limits.connectionsPerAddress(isLoopback: isLoopback) == (isLoopback ? 1000 : 256))
    limits.connectionsPerAddress = 7
    #expect(limits.connectionsPerAddress(isLoopback: isLoopback) == 7)
  }

  @Test("a Unix socket has no address to count")
  func noAddress() throws {
    #expect(ClientAddress(nil) == nil)
    #expect(ClientAddress(try SocketAddress(unixDomainSocketPath: "/s")) == nil)
  }

  @Test("the server's user and root may connect to a Unix socket, and other users may not")
  func users() {
    #expect(UnixClient.mayConnect(user: 1000, to: 1000))
    #expect(UnixClient.mayConnect(user: 0, to: 1000))
    #expect(!UnixClient.mayConnect(user: 1001, to: 1000))
    #expect(!UnixClient.mayConnect(user: 1000, to: 0))
    #expect(UnixClient.mayConnect(user: geteuid()))
  }
}

@Suite("Timeout of a frame")
struct UnfinishedFrameTests {
  @Test("the timeout restarts with each complete frame, and does not run while reading is paused")
  func time() {
    let start = ContinuousClock.now
    var frame = FrameTimeout()
    func check(
      at second: Double, messages: UInt32, isOpen: Bool = true, limit: Duration? = .seconds(60)
    ) -> Bool {
      frame.check(start + .seconds(second), messages: messages, isOpen: isOpen, limit)
    }
    #expect(!check(at: 1000, messages: 0))
    #expect(!check(at: 1059, messages: 0))
    #expect(!check(at: 1060, messages: 1))
    #expect(!check(at: 1119, messages: 1))
    #expect(!check(at: 1119, messages: 1, isOpen: false))
    #expect(!check(at: 1121, messages: 1))
    #expect(check(at: 1181, messages: 1))
    #expect(!check(at: 9999, messages: 1, limit: nil))
  }
}

@Suite("Idle timeout")
struct SilenceTests {
  let start = ContinuousClock.now
  var limits: ServerLimits {
    var limits = ServerLimits()
    limits.timeToFirstRequest = .seconds(10)
    limits.idleTime = .seconds(60)
    return limits
  }

  /// Checks the timeout at a second, and returns the limit that was exceeded.
  func check(
    _ silence: inout IdleTimeout, at second: Double, messages: UInt32, isAuthorised: Bool = true,
    isBusy: Bool = false
  ) -> String? {
    silence.check(
      start + .seconds(second), messages: messages, isAuthorised: isAuthorised, isBusy: isBusy,
      limits
    ).map { "\($0)" }
  }

  @Test("the time to the first request ends with the first request")
  func first() {
    var silence = IdleTimeout(since: start)
    #expect(check(&silence, at: 9.9, messages: 0) == nil)
    #expect(check(&silence, at: 10, messages: 0) == "timeToFirstRequest")
    #expect(check(&silence, at: 10.5, messages: 1) == nil)
    #expect(check(&silence, at: 60, messages: 1) == nil)
  }

  @Test("messages of a client without identity do not count")
  func unidentified() {
    var silence = IdleTimeout(since: start)
    #expect(check(&silence, at: 5, messages: 3, isAuthorised: false) == nil)
    #expect(check(&silence, at: 10, messages: 9, isAuthorised: false) == "timeToFirstRequest")
    #expect(check(&silence, at: 11, messages: 10) == nil)
  }

  @Test("each message and running work restart the idle time")
  func idle() {
    var silence = IdleTimeout(since: start)
    #expect(check(&silence, at: 1, messages: 1) == nil)
    #expect(check(&silence, at: 60.9, messages: 1) == nil)
    #expect(check(&silence, at: 60.9, messages: 2) == nil)
    #expect(check(&silence, at: 120, messages: 2, isBusy: true) == nil)
    #expect(check(&silence, at: 179.9, messages: 2) == nil)
    #expect(check(&silence, at: 180, messages: 2) == "idleTime")
    // A count that has wrapped around is also a change.
    #expect(check(&silence, at: 200, messages: 0) == nil)
  }

  @Test("without limits, no timeout occurs")
  func none() {
    var limits = ServerLimits()
    limits.timeToFirstRequest = nil
    var silence = IdleTimeout(since: start)
    #expect(
      silence.check(start + .seconds(1e6), messages: 0, isAuthorised: true, isBusy: false, limits)
        == nil)
    #expect(
      silence.check(start + .seconds(1e6), messages: 1, isAuthorised: true, isBusy: false, limits)
        == nil)
    #expect(
      silence.check(start + .seconds(1e7), messages: 1, isAuthorised: true, isBusy: false, limits)
        == nil)
  }
}
