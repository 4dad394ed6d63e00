// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import TransportSupport

/// Another descriptor of the same, which programs that this process starts do not inherit.
func duplicate(_ descriptor: CInt) throws(StartupError) -> CInt {
  let other = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
  guard other >= 0 else {
    throw StartupError(
      "descriptor \(descriptor) could not be duplicated: \(systemMessage(errno))")
  }
  return other
}
