// SPDX-License-Identifier: Apache-2.0

/// Returns all values of an enum without payloads, in the order of their declaration; nil for any
/// other type.
///
/// The coding keys that Swift synthesizes for an enum do not list its cases. The run-time metadata
/// of each enum contains the number of cases, and a value of an enum without payloads is the number
/// of its case in one byte.
///
/// - Source: Swift's ABI, `docs/ABI/TypeMetadata.rst`: enum metadata, nominal type descriptor of
///   enums.
func allCases<Value>(of type: Value.Type) -> [Value]? {
  let kindOfEnums = 0x201
  let metadata = unsafeBitCast(type, to: UnsafePointer<Int>.self)
  guard metadata[0] == kindOfEnums else { return nil }
  // Seven words of 32 bits: flags, parent, name, access, fields, cases with payloads (the upper
  // byte has another meaning), cases without payloads.
  guard let descriptor = UnsafePointer<UInt32>(bitPattern: metadata[1]) else { return nil }
  let (withPayload, count) = (descriptor[5] & 0xFF_FFFF, Int(descriptor[6]))
  guard withPayload == 0, (1...256).contains(count),
    MemoryLayout<Value>.size == (count > 1 ? 1 : 0)
  else { return nil }
  return (0..<count).map { number in
    withUnsafeBytes(of: UInt8(truncatingIfNeeded: number)) { $0.load(as: Value.self) }
  }
}
