// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON
internal import StatewireProtocol

/// Operations of `RemoteStore`, by store number.
extension Client {
  private func record(_ number: Int) throws -> StoreRecord {
    if let record = records[number] { return record }
    throw closeReason ?? StatewireError(.storeClosed, "the store is closed")
  }

  /// Returns the current state of a store; nil if its subscription has ended.
  func snapshot(_ number: Int) -> StoreSnapshot? { records[number]?.snapshot }

  /// Subscribes to changes of the state. The first element reports the current state.
  func changes(_ number: Int) throws -> Signal.Stream {
    try record(number).signal.subscribe(isNotified: true)
  }

  func events(_ number: Int) throws -> Broadcast<JSONValue>.Stream {
    try record(number).events.subscribe()
  }

  func resyncs(_ number: Int) -> [Divergence: Int] {
    records[number]?.resyncs ?? [:]
  }

  /// Sends an input; see `RemoteStore.post`.
  func post(
    _ number: Int, _ text: [UInt8], settle: Bool, optimistic: StoreSnapshot.Change?
  ) throws -> (Input, Promise<StoreSend.Result>) {
    let record = try record(number)
    let promise = Promise<StoreSend.Result>()
    guard let optimistic else {
      let input = try inputs.add(store: record.name, text: text, wantsSettled: settle) {
        promise.resolve($0)
      }
      return (input, promise)
    }
    var pending: Input?
    let input = try inputs.add(store: record.name, text: text, wantsSettled: settle) {
      record.dropUpdate(pending)
      // Breaks the reference cycle between the input and this closure.
      pending = nil
      promise.resolve($0)
    }
    // A frame that exceeds a limit has failed already.
    guard inputs.isOpen(input) else { return (input, promise) }
    pending = input
    record.add(
      StoreRecord.OptimisticUpdate(change: optimistic, untilSettled: settle, input: input))
    return (input, promise)
  }

  /// Sends an input without waiting for its result; see `RemoteStore.post`.
  func posted(
    _ number: Int, _ text: [UInt8], settle: Bool, optimistic: StoreSnapshot.Change?
  ) async throws -> Promise<StoreSend.Result> {
    try await drain()
    return try post(number, text, settle: settle, optimistic: optimistic).1
  }

  /// Sends an input and waits for its result. Cancellation cancels it on the server.
  func send(
    _ number: Int, _ text: [UInt8], settle: Bool, optimistic: StoreSnapshot.Change?
  ) async throws -> StoreSend.Result {
    try await drain()
    let (input, promise) = try post(number, text, settle: settle, optimistic: optimistic)
    do {
      return try await promise.value
    } catch let error as CancellationError {
      inputs.cancel(input)
      records[number]?.dropUpdate(input)
      throw error
    }
  }

  /// Waits until another input is accepted (back-pressure).
  private func drain() async throws {
    while !inputs.hasCapacity {
      if let closeReason { throw closeReason }
      for try await _ in inputs.capacity.subscribe() { break }
      try Task.checkCancellation()
    }
  }

  /// Compares a replica with the server's state; returns true if they were equal.
  func verify(_ number: Int) async throws -> Bool {
    let record = try record(number)
    let before = record.resyncs
    while true {
      let connection = try await ready()
      do {
        _ = try await ask(connection, "store/state", ["store": .string(record.name)])
        break
      } catch let error as StatewireError where error.code == .connectionLost {
        continue
      }
    }
    while record.replica?.hasDiverged == true {
      for try await _ in try self.record(number).signal.subscribe() { break }
      try Task.checkCancellation()
    }
    return record.resyncs == before
  }

  /// Ends the subscription to a store.
  func unsubscribe(_ number: Int) async throws {
    guard let record = records[number] else { return }
    end(record, nil)
    if status == .connected {
      _ = try await request("store/unsubscribe", ["store": .string(record.name)])
    }
  }
}
