// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

/// A TCP port of this machine that is reserved while this object lives and has no listener.
final class ReservedPort {
  private let descriptor: CInt
  let number: Int

  init() throws {
    descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = descriptor
    let isBound = withUnsafeMutableBytes(of: &address) { bytes in
      let address = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
      return bind(descriptor, address!, length) == 0
        && getsockname(descriptor, address!, &length) == 0
    }
    number = Int(UInt16(bigEndian: address.sin_port))
    try #require(isBound)
  }

  deinit { close(descriptor) }
}
