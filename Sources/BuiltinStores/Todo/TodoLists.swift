// SPDX-License-Identifier: Apache-2.0

/// The todo lists that have a name.
public protocol TodoLists: Sendable {
  associatedtype Repository: TodoRepository

  /// The repository of one store.
  ///
  /// All repositories of a name show one list. Each store takes its own, since the response to an operation waits for the
  /// feed of that store.
  ///
  /// - Parameter list: Any text, compared by its bytes. An unknown list is empty; the first todo makes it.
  func repository(list: String) -> Repository
}
