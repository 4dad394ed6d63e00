// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// An input of a balance store.
///
/// - Shape: `{"type": "viewDidAppear"}` and so on.
public enum BalanceInput: Codable, Equatable, Sendable {
  /// Requests the balance.
  case viewDidAppear
  /// Requests the balance.
  case refreshButtonWasTapped
  /// Redacts the amounts.
  case willResignActive
  /// Shows the amounts again, unless no frontend is active.
  case didBecomeActive
  /// Reports that no frontend of the session is active any more; refused from a client.
  case frontendsBecameInactive
  /// Reports that a frontend of the session is active again; refused from a client.
  case frontendsBecameActive
}

extension BalanceInput: JSONReadable, JSONWritable {
  /// Reads the value from JSON; the type documents its shape.
  ///
  /// - Throws: `JSONError` with the path of the fault.
  public init(reading reader: inout JSONReader) throws(JSONError) {
    let object = try JSONTaggedObject(reading: &reader)
    switch object.type {
    case "viewDidAppear": self = .viewDidAppear
    case "refreshButtonWasTapped": self = .refreshButtonWasTapped
    case "willResignActive": self = .willResignActive
    case "didBecomeActive": self = .didBecomeActive
    default: throw object.unknownType()
    }
  }

  /// Writes the value as JSON; the type documents its shape.
  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("type")
    switch self {
    case .viewDidAppear: writer.value("viewDidAppear" as StaticString)
    case .refreshButtonWasTapped: writer.value("refreshButtonWasTapped" as StaticString)
    case .willResignActive: writer.value("willResignActive" as StaticString)
    case .didBecomeActive: writer.value("didBecomeActive" as StaticString)
    case .frontendsBecameInactive: writer.value("frontendsBecameInactive" as StaticString)
    case .frontendsBecameActive: writer.value("frontendsBecameActive" as StaticString)
    }
    writer.endObject()
  }
}

extension BalanceInput: JSONDescribed {
  // Without the inputs that are refused from a client.
  /// Returns the JSON Schema of the type.
  public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
    try schemas.probed(BalanceInput.self)
      .without("frontendsBecameInactive").without("frontendsBecameActive")
  }
}

/// An account balance and its time.
///
/// - Shape: `{"balance": "1.23", "date": "2021-06-02T11:01:48Z"}`
/// - Units: US dollars.
public struct BalanceResponse: Codable, Hashable, Sendable {
  /// The amount.
  ///
  /// - Units: US dollars.
  public var balance: DecimalNumber
  /// The time at which the amount was valid.
  public var date: Timestamp

  /// Creates a response.
  public init(balance: DecimalNumber, date: Timestamp) {
    self.balance = balance
    self.date = date
  }
}

extension BalanceResponse: JSONReadable, JSONWritable {
  /// Reads the value from JSON; the type documents its shape.
  ///
  /// - Throws: `JSONError` with the path of the fault.
  public init(reading reader: inout JSONReader) throws(JSONError) {
    var (balance, date): (DecimalNumber?, Timestamp?)
    try reader.beginObject()
    while let key = try reader.nextKey() {
      switch key {
      case "balance": balance = try reader.read()
      case "date": date = try reader.read()
      default: _ = try reader.skipValue()
      }
    }
    guard let balance else { throw reader.missing("balance") }
    guard let date else { throw reader.missing("date") }
    self.init(balance: balance, date: date)
  }

  /// Writes the value as JSON; the type documents its shape.
  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("balance")
    writer.value(balance)
    writer.key("date")
    writer.value(date)
    writer.endObject()
  }
}

// Code that prints a value with a balance, for example a log, prints only this text.
extension BalanceResponse: CustomStringConvertible, CustomReflectable {
  /// The time without the amount, so that no log contains amounts.
  public var description: String { "a balance of \(date)" }
  /// A mirror with the time and without the amount.
  public var customMirror: Mirror { Mirror(self, children: ["date": date]) }
}
