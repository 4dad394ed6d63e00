// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

extension StateMachine {
  /// Checks that a store can be created with this machine, without creating one.
  ///
  /// - Throws: `JSONError` if the children of the machine do not fit together, or if its initial
  ///   view state cannot be encoded.
  public func checkInitialState() throws(JSONError) {
    if let fault = Composed(self).fault { throw JSONError(.value, fault) }
    do throws(JSONError) {
      _ = try JSONEncodedState(view(of: initialState))
    } catch {
      throw JSONError(
        error.code, "its initial view state cannot be encoded: \(error.message)", path: error.path)
    }
  }
}
