// SPDX-License-Identifier: Apache-2.0

extension RemoteStore {
  /// The states of a store, each time the newest.
  public struct States: AsyncSequence, Sendable {
    public typealias Element = State
    public typealias Failure = any Error

    let store: RemoteStore

    public func makeAsyncIterator() -> Iterator { Iterator(store: store) }

    public struct Iterator: AsyncIteratorProtocol {
      let store: RemoteStore
      private var news: News.Stream.Iterator?

      init(store: RemoteStore) { self.store = store }

      /// The newest state that was not taken yet; nil when the client or the store was closed from
      /// here, or when cancelled.
      ///
      /// - Throws: Why nothing more comes otherwise.
      public mutating func next(
        isolation actor: isolated (any Actor)? = #isolation
      ) async throws(any Error) -> State? {
        if news == nil { news = try await store.client.news(store.number).makeAsyncIterator() }
        while try await news?.next(isolation: actor) != nil {
          if let look = await store.client.look(store.number) { return try await store.drawn(look) }
        }
        return nil
      }
    }
  }
}
