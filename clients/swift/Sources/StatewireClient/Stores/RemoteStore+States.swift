// SPDX-License-Identifier: Apache-2.0

extension RemoteStore {
  /// The states of a store: the current one, then the latest one after each change.
  public struct States: AsyncSequence, Sendable {
    public typealias Element = State
    public typealias Failure = any Error

    let store: RemoteStore

    public func makeAsyncIterator() -> Iterator { Iterator(store: store) }

    public struct Iterator: AsyncIteratorProtocol {
      let store: RemoteStore
      private var changes: Signal.Stream.Iterator?

      init(store: RemoteStore) { self.store = store }

      /// Returns the latest state that was not returned yet; nil after `unsubscribe`, after the
      /// client was closed, and when cancelled.
      ///
      /// - Throws: The error that has ended the subscription.
      public mutating func next(
        isolation actor: isolated (any Actor)? = #isolation
      ) async throws(any Error) -> State? {
        if changes == nil {
          changes = try await store.client.changes(store.number).makeAsyncIterator()
        }
        while try await changes?.next(isolation: actor) != nil {
          if let snapshot = await store.client.snapshot(store.number) {
            return try await store.state(of: snapshot)
          }
        }
        return nil
      }
    }
  }
}
