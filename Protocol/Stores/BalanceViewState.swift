// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// What a frontend sees of a balance.
///
/// - Shape: `{"title": String, "lastResponse": BalanceResponse or null, "isRefreshing": Bool,
///   "didFail": Bool, "isRedacted": Bool, "formattedBalance": String, "infoText": String,
///   "infoColor": "regular" or "failure"}`
public struct BalanceViewState: Codable, Equatable, Sendable {
  public enum InfoColor: String, Codable, Sendable {
    case regular
    case failure
  }

  public var title: String
  /// The latest response; nil as long as there is none, or while redacted.
  public var lastResponse: BalanceResponse?
  public var isRefreshing: Bool
  /// Whether the latest refresh failed.
  public var didFail: Bool
  /// Whether amounts are hidden, since nobody may be looking at the right person's screen.
  public var isRedacted: Bool
  /// The amount in US dollars, like "-$1,234.50"; "--" if there is none to show.
  public var formattedBalance: String
  /// How the latest refresh went and when there was a response, like
  /// "Failed to update. Last update: Today, 11:01:48 AM."; may be empty.
  public var infoText: String
  /// `failure` if `didFail`.
  public var infoColor: InfoColor

  public init(
    title: String, lastResponse: BalanceResponse?, isRefreshing: Bool, didFail: Bool,
    isRedacted: Bool, formattedBalance: String, infoText: String, infoColor: InfoColor
  ) {
    self.title = title
    self.lastResponse = lastResponse
    self.isRefreshing = isRefreshing
    self.didFail = didFail
    self.isRedacted = isRedacted
    self.formattedBalance = formattedBalance
    self.infoText = infoText
    self.infoColor = infoColor
  }
}

extension BalanceViewState: JSONWritable {
  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("title")
    writer.value(title)
    writer.key("lastResponse")
    writer.value(lastResponse)
    writer.key("isRefreshing")
    writer.value(isRefreshing)
    writer.key("didFail")
    writer.value(didFail)
    writer.key("isRedacted")
    writer.value(isRedacted)
    writer.key("formattedBalance")
    writer.value(formattedBalance)
    writer.key("infoText")
    writer.value(infoText)
    writer.key("infoColor")
    writer.value(infoColor.rawValue)
    writer.endObject()
  }
}

// Whatever prints a value that holds one, a log say, prints this.
extension BalanceViewState: CustomStringConvertible, CustomReflectable {
  /// What is no amount: those do not get into logs.
  public var description: String {
    "a view of a balance: isRefreshing \(isRefreshing), didFail \(didFail), "
      + "isRedacted \(isRedacted), infoText \"\(infoText)\""
  }

  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "isRefreshing": isRefreshing, "didFail": didFail, "isRedacted": isRedacted,
        "infoText": infoText,
      ])
  }
}
