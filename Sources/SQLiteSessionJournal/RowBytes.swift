// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// Writes the bytes of one journal row: numbers of variable length, texts after their length, and
/// at the end a CRC-32 of the content and of the row's key.
struct RowWriter {
  private(set) var bytes: [UInt8] = []

  /// Appends a number, seven bits per byte, the lowest first.
  mutating func number(_ number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// Appends a signed number in zigzag encoding, which is short for small numbers of either sign.
  mutating func integer(_ integer: Int) {
    let sign = integer >> (Int.bitWidth - 1)
    number(UInt64(bitPattern: Int64(integer << 1 ^ sign)))
  }

  /// Appends a length and that number of bytes.
  mutating func text(_ text: some Collection<UInt8>) {
    number(UInt64(text.count))
    bytes.append(contentsOf: text)
  }

  /// Appends 0, or 1 and the text.
  mutating func optional(_ text: (some Collection<UInt8>)?) {
    number(text == nil ? 0 : 1)
    if let text { self.text(text) }
  }

  /// Appends seconds and nanoseconds.
  mutating func time(_ time: Duration) {
    let (seconds, attoseconds) = time.components
    integer(Int(seconds))
    number(UInt64(attoseconds.magnitude / 1_000_000_000))
  }

  mutating func append(_ other: RowWriter) { bytes.append(contentsOf: other.bytes) }

  /// Empties the row. The memory of a large row is released, because each of thousands of stores
  /// has a writer.
  mutating func removeAll() { bytes.removeAll(keepingCapacity: bytes.count <= 4 << 10) }

  /// Returns the row with its checksum.
  consuming func sealed(_ key: RowKey) -> [UInt8] {
    let count = bytes.count
    bytes.append(contentsOf: key)
    let checksum = JSON.digest(bytes)
    bytes.removeLast(bytes.count - count)
    withUnsafeBytes(of: checksum.littleEndian) { bytes.append(contentsOf: $0) }
    return bytes
  }
}

/// The table and the key of a row as bytes, so that a row at a wrong place is detected too.
typealias RowKey = [UInt8]

extension RowKey {
  init(_ table: JournalStatement, _ id: Int64, _ second: Int64 = 0) {
    self = [UInt8(table.rawValue)]
    Swift.withUnsafeBytes(of: id.littleEndian) { append(contentsOf: $0) }
    Swift.withUnsafeBytes(of: second.littleEndian) { append(contentsOf: $0) }
  }
}

/// A row is missing, or its bytes are not those that were written.
struct RowDamage: Error {}

/// Reads the bytes that `RowWriter` has written.
struct RowReader {
  private let row: ArraySlice<UInt8>
  private var position: Int

  /// Checks the checksum.
  ///
  /// - Throws: `RowDamage` if the row is damaged or has another key.
  init(_ data: [UInt8], _ key: RowKey) throws(RowDamage) {
    guard data.count >= 4 else { throw RowDamage() }
    var checksum: UInt32 = 0
    for byte in data.suffix(4).reversed() { checksum = checksum << 8 | UInt32(byte) }
    guard JSON.digest(Array(data.dropLast(4)) + key) == checksum else { throw RowDamage() }
    row = data.dropLast(4)
    position = row.startIndex
  }

  var isAtEnd: Bool { position == row.endIndex }

  mutating func number() throws(RowDamage) -> UInt64 {
    var number: UInt64 = 0
    for shift in stride(from: 0, to: 64, by: 7) {
      guard position < row.endIndex else { throw RowDamage() }
      let byte = row[position]
      position += 1
      number |= UInt64(byte & 0x7F) << UInt64(shift)
      if byte < 0x80 { return number }
    }
    throw RowDamage()
  }

  mutating func integer() throws(RowDamage) -> Int {
    let number = try number()
    let magnitude = Int(truncatingIfNeeded: number >> 1)
    return number & 1 == 0 ? magnitude : ~magnitude
  }

  mutating func bytes() throws(RowDamage) -> [UInt8] {
    let count = try number()
    guard count <= row.endIndex - position else { throw RowDamage() }
    defer { position += Int(count) }
    return Array(row[position..<position + Int(count)])
  }

  mutating func text() throws(RowDamage) -> String {
    String(decoding: try bytes(), as: UTF8.self)
  }

  mutating func optionalBytes() throws(RowDamage) -> [UInt8]? {
    try number() == 0 ? nil : try bytes()
  }

  mutating func optionalText() throws(RowDamage) -> String? {
    try number() == 0 ? nil : try text()
  }

  mutating func time() throws(RowDamage) -> Duration {
    let seconds = try integer()
    return .seconds(seconds) + .nanoseconds(Int64(truncatingIfNeeded: try number()))
  }
}
