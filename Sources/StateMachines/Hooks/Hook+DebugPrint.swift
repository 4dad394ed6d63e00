// SPDX-License-Identifier: Apache-2.0

extension Hook {
  /// Writes a line at the end of each operation and each named part of one:
  ///
  ///     addTodo finished
  ///     an error occurred: removeTodo failed
  ///     getTodos was cancelled
  ///
  /// Names alone, never what is in an input or an action.
  ///
  /// - Parameter write: Takes a line without its end. Standard output is no place for it in a
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
