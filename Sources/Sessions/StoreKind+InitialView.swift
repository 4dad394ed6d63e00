// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
public import StatewireJSON

extension StoreKind {
  /// Creates a machine without a store, and encodes the view of its initial state.
  ///
  /// A server calls it at its start, so that the author of a kind meets the error and not the first
  /// client. A kind that does not accept an empty configuration is not checked.
  ///
  /// - Throws: `JSONError` if the view state cannot be encoded.
  public func checkInitialView() throws(JSONError) { try initialViewCheck() }

  /// Encodes the view of a machine's initial state.
  static func encodeInitialView<Machine: StateMachine>(of machine: Machine) throws(JSONError) {
    _ = try JSONEncodedState(machine.view(of: machine.initialState))
  }
}
