// SPDX-License-Identifier: Apache-2.0

/// The view of the sender of an input, if different viewers have different views.
protocol SenderView: AnyObject {
  var revision: Revision { get }

  /// Returns a mark of the present view.
  ///
  /// - Parameter keptStates: The number of earlier states that the store keeps.
  func mark(beside keptStates: Int) -> StateMark
}
