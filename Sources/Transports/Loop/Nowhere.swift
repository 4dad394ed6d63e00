// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A descriptor that nothing can be read from.
package enum Nowhere {
  /// Opens `/dev/null`, or the root folder where that is not there, in a container without devices for example:
  /// reading from and writing to it fails.
  ///
  /// - Parameter flags: More of those of open(2).
  /// - Returns: Nil if no file can be opened.
  package static func open(_ flags: CInt = 0) -> CInt? {
    for (path, kind) in [("/dev/null", O_RDWR), ("/", O_RDONLY | O_DIRECTORY)] {
      let descriptor = Glibc.open(path, kind | flags)
      if descriptor >= 0 { return descriptor }
    }
    return nil
  }
}
