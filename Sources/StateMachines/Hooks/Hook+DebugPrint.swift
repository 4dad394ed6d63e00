// SPDX-License-Identifier: Apache-2.0

extension Hook {
  /// Returns a hook that writes a line at the end of each operation and of each named part of one:
  ///
  ///     addTodo finished
  ///     an error occurred: removeTodo failed
  ///     getTodos was cancelled
  ///
  /// The lines contain only names, never the contents of an input or an action.
  ///
  /// - Parameter write: Takes a line without a line end. It must not write to standard output in a
  ///   server that speaks over stdio.
  public static func debugPrint(to write: @escaping @Sendable (String) -> Void) -> Hook {
    Hook(
      stages: [.operation, .part],
      receiveCompletion: { operation, end in
        switch end {
        case .failed: write("an error occurred: \(operation.name) failed")
        case .finished, .cancelled: write("\(operation.name) finished")
        }
      }, receiveCancel: { write("\($0.name) was cancelled") })
  }
}
