// SPDX-License-Identifier: Apache-2.0

public import ClientTransports
internal import Glibc
internal import NIOCore
internal import Testing

/// A blocking socket of the system, which is read only when the test reads it. SwiftNIO notices the
/// end of a connection immediately, also without a read.
public struct PlainSocket: ~Copyable {
  private let descriptor: CInt

  public init(_ address: ServerAddress) throws {
    let port =
      switch address {
      case .tcp(_, let port), .web(_, let port): port
      default: 0
      }
    descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    // A time limit, so that a failing test does not wait forever.
    var limit = timeval(tv_sec: 120, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    let connected = try SocketAddress(ipAddress: "127.0.0.1", port: port)
      .withSockAddr { connect(descriptor, $0, socklen_t($1)) }
    try #require(connected == 0)
  }

  deinit { close(descriptor) }

  public func send(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { bytes in
        Glibc.send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
      }
      try #require(count > 0)
      rest = rest.dropFirst(count)
    }
  }

  public func send(_ text: String) throws { try send(Array(text.utf8)) }

  public func endOutput() { shutdown(descriptor, CInt(SHUT_WR)) }

  /// Waits for the next byte.
  @discardableResult
  public func receiveByte() throws -> UInt8 { try #require(receive(1).first) }

  /// Returns the bytes that have arrived, at most `maximum`; none at the end.
  private func receive(_ maximum: Int) throws -> [UInt8] {
    var count = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: maximum) {
      count = read(descriptor, $0.baseAddress, maximum)
      $1 = max(count, 0)
    }
    try #require(count >= 0, "errno \(errno)")
    return bytes
  }

  /// Returns all bytes until the server ends the connection.
  public func receiveAll() throws -> [UInt8] {
    var all: [UInt8] = []
    while true {
      let more = try receive(1 << 16)
      guard !more.isEmpty else { return all }
      all += more
    }
  }
}
