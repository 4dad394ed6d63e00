// SPDX-License-Identifier: Apache-2.0

/// The todo lists that have a name.
public protocol TodoLists: Sendable {
  /// The type of their repositories.
  associatedtype Repository: TodoRepository

  /// Returns the repository for one store.
  ///
  /// All repositories with the same name show the same list. Each store has a separate repository,
  /// because the response to an operation waits for the feed of its store.
  ///
  /// - Parameter list: The name: any text, compared by its bytes. An unknown list is empty; its
  ///   first todo creates it.
  func repository(list: String) -> Repository
}
