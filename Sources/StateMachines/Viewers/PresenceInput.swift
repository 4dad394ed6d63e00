// SPDX-License-Identifier: Apache-2.0

// The input that a presence-aware machine gets when its viewers change.

extension StateMachine {
  /// True if the machine is called when the viewers change.
  static var isAwareOfViewers: Bool { ViewersInput.self != NoInput.self }

  /// True if the machine gets an input when the viewers change, which clients may not send.
  static var reservesInputs: Bool { isAwareOfViewers && ViewersInput.self != Never?.self }

  /// Returns the input for the viewers; nil if there is none.
  func presenceInput(for viewers: [Viewer]) -> Input? {
    let result: ViewersInput = input(for: viewers)
    return result as? Input
  }

  /// Returns true if an input is of a case that the machine gets when the viewers change.
  func isPresenceInput(_ input: Input) -> Bool {
    guard Self.reservesInputs, Mirror(reflecting: input).displayStyle == .enum else {
      return false
    }
    let name = caseName(of: input)
    return [[], [Viewer()]].contains { viewers in
      presenceInput(for: viewers).map { caseName(of: $0) == name } ?? false
    }
  }
}
