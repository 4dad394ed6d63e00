// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The bytes of one row of the journal: numbers of variable length, texts with their length before
/// them, and a CRC-32 of all that and of the row's key at the end.
struct RowWriter {
  private(set) var bytes: [UInt8] = []

  /// Seven bits a byte, the lowest first.
  mutating func number(_ number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// Small numbers of either sign are short.
  mutating func integer(_ integer: Int) {
    let sign = integer >> (Int.bitWidth - 1)
    number(UInt64(bitPattern: Int64(integer << 1 ^ sign)))
  }

  mutating func text(_ text: some Collection<UInt8>) {
    number(UInt64(text.count))
    bytes.append(contentsOf: text)
  }

  mutating func optional(_ text: (some Collection<UInt8>)?) {
    number(text == nil ? 0 : 1)
    if let text { self.text(text) }
  }

  mutating func time(_ time: Duration) {
    let (seconds, attoseconds) = time.components
    integer(Int(seconds))
    number(UInt64(attoseconds.magnitude / 1_000_000_000))
  }

  mutating func append(_ other: RowWriter) { bytes.append(contentsOf: other.bytes) }

  /// What a large row has needed is given back: there is a writer for each of thousands of stores.
  mutating func removeAll() { bytes.removeAll(keepingCapacity: bytes.count <= 4 << 10) }

  /// The row, with its checksum.
  consuming func sealed(_ key: RowKey) -> [UInt8] {
    let count = bytes.count
    bytes.append(contentsOf: key)
    let checksum = JSON.digest(bytes)
    bytes.removeLast(bytes.count - count)
    withUnsafeBytes(of: checksum.littleEndian) { bytes.append(contentsOf: $0) }
    return bytes
  }
}

/// What a row is found by, as bytes, so that one that has got to another place is noticed too.
typealias RowKey = [UInt8]

extension RowKey {
  init(_ table: JournalStatement, _ id: Int64, _ second: Int64 = 0) {
    self = [UInt8(table.rawValue)]
    Swift.withUnsafeBytes(of: id.littleEndian) { append(contentsOf: $0) }
    Swift.withUnsafeBytes(of: second.littleEndian) { append(contentsOf: $0) }
  }
}

/// The row is not what was written.
struct RowDamage: Error {}

/// Reads what `RowWriter` has written.
struct RowReader {
  private let row: ArraySlice<UInt8>
  private var position: Int

  /// - Throws: If the checksum says that it is another row, or what has become of one.
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
