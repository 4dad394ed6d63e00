// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Returns the system's description of an error number; it can be called on any thread.
///
/// - Source: `strerror_r(3)`.
package func systemMessage(_ errorNumber: CInt) -> String {
  var text = [CChar](repeating: 0, count: 256)
  _ = strerror_r(errorNumber, &text, text.count)
  return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
}
