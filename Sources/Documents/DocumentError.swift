// SPDX-License-Identifier: Apache-2.0

public import StateMachines

/// The reason why a read or a write failed; nothing was changed.
public struct DocumentError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The kind of an error, for programs.
  public enum Code: Equatable, Sendable {
    /// The write refused the row that it found, or the change exceeds a limit. The input is
    /// refused.
    case refused(InputRefusal)
    /// The disk is full.
    case full
    /// The storage may not be written.
    case readOnly
    /// A stored row does not fit the type. The row is unchanged.
    case unreadable
    /// The write gave a row that cannot be stored: a row with another id, or a value that cannot be
    /// encoded.
    case invalid
    /// The storage cannot be used now, or a fault was injected. The operator's log has the cause.
    case unavailable
    /// The work was cancelled.
    case cancelled
  }

  /// The kind of the error, for programs.
  public let code: Code
  /// The reason, one sentence for users. It names no file; for a row it names the table and the id.
  public let message: String

  /// Creates an error.
  public init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }

  /// Creates the error of a refused input.
  public init(_ refusal: InputRefusal) { self.init(.refused(refusal), refusal.message) }

  /// The message.
  public var description: String { message }

  /// The refusal of the input; nil if the write was not refused.
  var refusal: InputRefusal? { if case .refused(let refusal) = code { refusal } else { nil } }

  /// Converts an error that work has thrown.
  init(_ error: any Error) {
    switch error {
    case let error as DocumentError: self = error
    case let refusal as InputRefusal: self.init(refusal)
    case is CancellationError: self.init(.cancelled, "the work was cancelled")
    default: self.init(.unavailable, "\(error)")
    }
  }
}
