// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A descriptor that no data can be read from.
package enum NullDevice {
  /// Opens `/dev/null`, or the root folder where `/dev/null` does not exist, for example in a
  /// container without devices. Reads from and writes to the root folder fail.
  ///
  /// - Parameter flags: Additional flags of open(2).
  /// - Returns: Nil if neither can be opened.
  package static func open(_ flags: CInt = 0) -> CInt? {
    for (path, kind) in [("/dev/null", O_RDWR), ("/", O_RDONLY | O_DIRECTORY)] {
      let descriptor = Glibc.open(path, kind | flags)
      if descriptor >= 0 { return descriptor }
    }
    return nil
  }
}
