// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import TransportSupport

/// Duplicates a descriptor. Child processes of this process do not inherit the copy.
///
/// - Returns: The copy, numbered 3 or higher; the caller closes it.
/// - Throws: `StartupError` if the descriptor is not open or the process has too many.
func duplicate(_ descriptor: CInt) throws(StartupError) -> CInt {
  let other = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
  guard other >= 0 else {
    throw StartupError(
      "cannot duplicate descriptor \(descriptor): \(systemMessage(errno))")
  }
  return other
}
