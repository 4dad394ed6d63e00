// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// What a frontend sends to a balance.
///
/// - Shape: `{"type": "viewDidAppear"}` and so on.
public enum BalanceInput: Codable, Equatable, Sendable {
  /// Asks for the balance.
  case viewDidAppear
  /// Asks for the balance.
  case refreshButtonWasTapped
  /// Hides the amounts.
  case willResignActive
  /// Shows them again, unless no frontend is active.
  case didBecomeActive
  /// No frontend of the session is active any more; refused from a frontend.
  case frontendsBecameInactive
  /// A frontend of the session is active again; refused from a frontend.
  case frontendsBecameActive
}

extension BalanceInput: JSONReadable, JSONWritable {
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
  // Without what is refused from a frontend.
  public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
    try schemas.probed(BalanceInput.self)
      .without("frontendsBecameInactive").without("frontendsBecameActive")
  }
}

/// A balance, and when it was that.
///
/// - Shape: `{"balance": "1.23", "date": "2021-06-02T11:01:48Z"}`
/// - Units: US dollars.
public struct BalanceResponse: Codable, Hashable, Sendable {
  public var balance: DecimalNumber
  public var date: Timestamp

  public init(balance: DecimalNumber, date: Timestamp) {
    self.balance = balance
    self.date = date
  }
}

extension BalanceResponse: JSONReadable, JSONWritable {
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

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("balance")
    writer.value(balance)
    writer.key("date")
    writer.value(date)
    writer.endObject()
  }
}

// Whatever prints a value that holds one, a log say, prints this.
extension BalanceResponse: CustomStringConvertible, CustomReflectable {
  /// The time alone: amounts do not get into logs.
  public var description: String { "a balance of \(date)" }
  public var customMirror: Mirror { Mirror(self, children: ["date": date]) }
}
