// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// A TCP port of this machine that is reserved while this object lives and has no listener.
final class ReservedPort {
  private let descriptor: CInt
  let number: Int

  init() throws {
    descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    number = try #require(LoopbackAddress.selectPort(for: descriptor))
  }

  deinit { close(descriptor) }
}
