// SPDX-License-Identifier: Apache-2.0

extension RemoteStore {
  /// The states of a store: the current one, then the latest one after each change. No state equals
  /// the previous one.
  public struct States: AsyncSequence, Sendable {
    /// The decoded view state of the store.
    public typealias Element = State
    /// The error that ends the subscription: a `StatewireError` or an `RPCError`.
    public typealias Failure = any Error

    let store: RemoteStore

    /// Creates an iterator that begins with the current state.
    public func makeAsyncIterator() -> Iterator { Iterator(store: store) }

    /// An iterator over the states of a store, independent of other iterators.
    public struct Iterator: AsyncIteratorProtocol {
      let store: RemoteStore
      private var changes: Signal.Stream.Iterator?
      /// The state that was returned last.
      private var last: Reading?

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
          guard let snapshot = await store.client.snapshot(store.number),
            let reading = try await store.reading(of: snapshot, after: last)
          else { continue }
          last = reading
          return reading.state
        }
        return nil
      }
    }
  }
}

// MARK: - Equal states

extension RemoteStore {
  /// A decoded state, and what it was decoded from.
  struct Reading: Sendable {
    let snapshot: StoreSnapshot
    let state: State
  }

  /// Decodes a state; returns nil if it equals the last one.
  ///
  /// A lost connection, an optimistic update that proves right, and changes that a slow iteration has
  /// skipped lead to equal states. Optimistic updates can be compared only if the states are
  /// `Equatable`.
  @concurrent
  fileprivate func reading(
    of snapshot: StoreSnapshot, after last: Reading?
  ) async throws -> Reading? {
    let isOptimistic = !snapshot.optimistic.isEmpty || last?.snapshot.optimistic.isEmpty == false
    if let last, !isOptimistic, last.snapshot.confirmed == snapshot.confirmed { return nil }
    let state = try await state(of: snapshot)
    if let last, isOptimistic, let before = last.state as? any Equatable, before.equals(state) {
      return nil
    }
    return Reading(snapshot: snapshot, state: state)
  }
}

extension Equatable {
  /// Compares with a value of any type.
  fileprivate func equals(_ other: Any) -> Bool { self == other as? Self }
}
