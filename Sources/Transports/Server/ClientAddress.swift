// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore

/// The address of a client, as it counts for limits: an IPv4 address, or the first 64 bits of an
/// IPv6 address. A customer of a network is usually given 64 bits, and can use any address in them.
///
/// - Source: RFC 4291 §2.5.1 (64 bits of network); §2.5.5.2 (IPv4 in IPv6).
struct ClientAddress: Hashable, Sendable {
  private let network: UInt64
  private let isIPv6: Bool
  /// True for an address of this machine: 127.0.0.0/8 or ::1.
  let isLoopback: Bool

  /// Nil for an address of another kind, such as that of a Unix socket.
  init?(_ address: SocketAddress?) {
    guard let address else { return nil }
    switch address.protocol {
    case .inet:
      self = address.withSockAddr { address, _ in
        // After the family and the port.
        Self(v4: UnsafeRawPointer(address).load(fromByteOffset: 4, as: UInt32.self))
      }
    case .inet6:
      self = address.withSockAddr { address, _ in
        // After the family, the port and the flow information.
        let bytes = UnsafeRawPointer(address) + 8
        let high = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
        let low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        guard high == 0, low >> 32 == 0xFFFF else {
          return Self(network: high, isIPv6: true, isLoopback: high == 0 && low == 1)
        }
        return Self(v4: UInt32(truncatingIfNeeded: low).bigEndian)
      }
    default:
      return nil
    }
  }

  private init(network: UInt64, isIPv6: Bool, isLoopback: Bool) {
    self.network = network
    self.isIPv6 = isIPv6
    self.isLoopback = isLoopback
  }

  /// - Parameter address: In network byte order.
  private init(v4 address: UInt32) {
    let address = UInt32(bigEndian: address)
    self.init(network: UInt64(address), isIPv6: false, isLoopback: address >> 24 == 127)
  }
}
