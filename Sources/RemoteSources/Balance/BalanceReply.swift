// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores
internal import StatewireJSON

/// The body of a balance service's response:
/// `{"balance": number|string, "date": "yyyy-MM-dd HH:mm:ss Z"}`.
///
/// A number is read from its text and never as a `Double`, so it keeps all digits.
struct BalanceReply {
  let response: BalanceResponse

  /// Parses a body.
  ///
  /// - Throws: `JSONError` if it is not JSON or has no valid balance and date.
  init(_ bytes: [UInt8]) throws {
    self = try bytes.withUnsafeBytes { bytes in
      var reader = JSONReader(bytes)
      let reply = try BalanceReply(reading: &reader)
      try reader.finish()
      return reply
    }
  }

  private init(reading reader: inout JSONReader) throws(JSONError) {
    var balance: DecimalNumber?
    var date: Timestamp?
    try reader.beginObject()
    // The last of several members with the same name counts, as everywhere, even if its value is
    // invalid.
    while let key = try reader.nextKey() {
      switch key {
      case "balance": balance = try Self.amount(&reader)
      case "date": date = try Self.string(&reader).flatMap { Timestamp($0) }
      default: try reader.skipValue()
      }
    }
    guard let balance, let date else { throw JSONError(.value, "no balance") }
    response = BalanceResponse(balance: balance, date: date)
  }

  private static func amount(_ reader: inout JSONReader) throws(JSONError) -> DecimalNumber? {
    guard try reader.peek() == .number else {
      return try string(&reader).flatMap { DecimalNumber($0) }
    }
    let range = try reader.skipValue()
    return DecimalNumber(String(decoding: reader.bytes(in: range), as: UTF8.self))
  }

  private static func string(_ reader: inout JSONReader) throws(JSONError) -> String? {
    guard try reader.peek() == .string else {
      try reader.skipValue()
      return nil
    }
    return try reader.readString()
  }
}
