// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStoresProtocol
internal import StateMachines

/// The longest texts that clients may send, if they are shorter than their types allow.
public struct TextLimits: Sendable {
  /// The longest title, in UTF-8 bytes.
  public var titleBytes = TodoTitle.maximumBytes
  /// The longest form entry, in UTF-8 bytes.
  public var fieldBytes = FormEntry.maximumBytes

  /// Creates limits that are those of the types.
  public init() {}

  func refusal(of title: TodoTitle) -> InputRefusal? {
    guard title.text.utf8.count > titleBytes else { return nil }
    return InputRefusal(
      .init(.titleBytes), "a title has at most \(titleBytes) bytes", member: "title")
  }

  /// Returns the reason to refuse an entry; nil if it is short enough.
  ///
  /// - Parameters:
  ///   - entry: The entry.
  ///   - member: The name of the entry in the input.
  func refusal(of entry: FormEntry, _ member: String) -> InputRefusal? {
    guard entry.text.utf8.count > fieldBytes else { return nil }
    return InputRefusal(
      .init(.fieldBytes), "an entry has at most \(fieldBytes) bytes", member: member)
  }
}

extension InputRefusal.Code {
  /// Creates the code of an input that exceeds a limit of the server.
  init(_ limit: LimitName) { self = .limit(limit.rawValue) }
}
