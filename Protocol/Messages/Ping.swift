// SPDX-License-Identifier: Apache-2.0

/// Answers `{}`, after everything that was asked before has been begun.
public enum Ping {
  public static let method: StaticString = "ping"

  public static var description: MethodDescription {
    MethodDescription(
      method, "Answers once everything that was asked before has been begun.")
  }
}
