// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStoresProtocol
internal import StateMachines

/// How long the texts of frontends may be, where that is less than their types allow.
public struct TextLimits: Sendable {
  /// - Units: UTF-8 bytes of one title.
  public var titleBytes = TodoTitle.maximumBytes
  /// - Units: UTF-8 bytes of one entry of a form.
  public var fieldBytes = FormEntry.maximumBytes

  /// What the types allow.
  public init() {}

  func refusal(of title: TodoTitle) -> InputRefusal? {
    guard title.text.utf8.count > titleBytes else { return nil }
    return InputRefusal(.titleBytes, "a title has at most \(titleBytes) bytes", member: "title")
  }

  /// - Parameters:
  ///   - entry: What was entered.
  ///   - member: What the input calls it.
  func refusal(of entry: FormEntry, _ member: String) -> InputRefusal? {
    guard entry.text.utf8.count > fieldBytes else { return nil }
    return InputRefusal(.fieldBytes, "an entry has at most \(fieldBytes) bytes", member: member)
  }
}
