// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// The view state of a balance store.
///
/// - Shape: `{"title": String, "lastResponse": BalanceResponse or null, "isRefreshing": Bool,
///   "didFail": Bool, "isRedacted": Bool, "formattedBalance": String, "infoText": String,
///   "infoColor": "regular" or "failure"}`
public struct BalanceViewState: Codable, Equatable, Sendable {
  /// The style of `infoText`.
  public enum InfoColor: String, Codable, Sendable {
    /// The style of a normal state.
    case regular
    /// The style of a failed refresh.
    case failure
  }

  /// The title of the view.
  public var title: String
  /// The latest response; nil if there is none yet, or while redacted.
  public var lastResponse: BalanceResponse?
  /// True while a refresh is in progress.
  public var isRefreshing: Bool
  /// True if the latest refresh failed.
  public var didFail: Bool
  /// True while amounts are redacted because the frontend is inactive.
  public var isRedacted: Bool
  /// The amount in US dollars, for example "-$1,234.50"; "--" if there is no amount to show.
  public var formattedBalance: String
  /// The result of the latest refresh and the time of the latest response, for example "Failed to
  /// update. Last update: Today, 11:01:48 AM."; may be empty.
  public var infoText: String
  /// `failure` if `didFail`.
  public var infoColor: InfoColor

  /// Creates a view state.
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
  /// Writes the value as JSON; the type documents its shape.
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

// Code that prints a value with a balance, for example a log, prints only this text.
extension BalanceViewState: CustomStringConvertible, CustomReflectable {
  /// The members that contain no amount, so that no log contains amounts.
  public var description: String {
    "a view of a balance: isRefreshing \(isRefreshing), didFail \(didFail), "
      + "isRedacted \(isRedacted), infoText \"\(infoText)\""
  }

  /// A mirror with the members that contain no amount.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "isRefreshing": isRefreshing, "didFail": didFail, "isRedacted": isRedacted,
        "infoText": infoText,
      ])
  }
}
