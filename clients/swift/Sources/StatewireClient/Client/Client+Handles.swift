// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON
internal import StatewireProtocol

/// What the handles of stores ask for, by number.
extension Client {
  private func record(_ number: Int) throws -> StoreRecord {
    if let record = records[number] { return record }
    throw over ?? StatewireError(.storeClosed, "the store was closed")
  }

  /// What there is to see; nil where nothing more comes.
  func look(_ number: Int) -> StoreLook? { records[number]?.look }

  /// Listens for other states, and is told of the one that is.
  func news(_ number: Int) throws -> News.Stream {
    try record(number).news.listen(isTold: true)
  }

  func events(_ number: Int) throws -> Happenings<JSONValue>.Stream {
    try record(number).events.listen()
  }

  func resynchronisations(_ number: Int) -> [Fault: Int] {
    records[number]?.resynchronisations ?? [:]
  }

  /// Sends an input; see `RemoteStore.post`.
  func post(
    _ number: Int, _ text: [UInt8], settle: Bool, draw: StoreLook.Draw?
  ) throws -> (Input, Promise<StoreSend.Result>) {
    let record = try record(number)
    let promise = Promise<StoreSend.Result>()
    guard let draw else {
      let input = try inputs.add(store: record.name, text: text, wantsSettled: settle) {
        promise.resolve($0)
      }
      return (input, promise)
    }
    var drawn: Input?
    let input = try inputs.add(store: record.name, text: text, wantsSettled: settle) {
      record.undraw(drawn)
      // The input holds this, and so must not be held by it.
      drawn = nil
      promise.resolve($0)
    }
    // A frame that is too large for the server has failed already.
    guard inputs.isOpen(input) else { return (input, promise) }
    drawn = input
    record.draw(StoreRecord.Drawing(draw: draw, untilSettled: settle, input: input))
    return (input, promise)
  }

  /// Sends an input without waiting for its answer; see `RemoteStore.post`.
  func posted(
    _ number: Int, _ text: [UInt8], settle: Bool, draw: StoreLook.Draw?
  ) async throws -> Promise<StoreSend.Result> {
    try await room()
    return try post(number, text, settle: settle, draw: draw).1
  }

  /// Sends an input and waits for its answer; whoever gives up has it cancelled.
  func send(
    _ number: Int, _ text: [UInt8], settle: Bool, draw: StoreLook.Draw?
  ) async throws -> StoreSend.Result {
    try await room()
    let (input, promise) = try post(number, text, settle: settle, draw: draw)
    do {
      return try await promise.value
    } catch let error as CancellationError {
      inputs.giveUp(input)
      records[number]?.undraw(input)
      throw error
    }
  }

  /// Waits until another input may be sent.
  private func room() async throws {
    while !inputs.hasRoom {
      if let over { throw over }
      for try await _ in inputs.room.listen() { break }
      try Task.checkCancellation()
    }
  }

  /// Compares the state held with the server's; whether it was right.
  func check(_ number: Int) async throws -> Bool {
    let record = try record(number)
    let before = record.resynchronisations
    while true {
      let connection = try await ready()
      do {
        _ = try await ask(connection, "store/state", ["store": .string(record.name)])
        break
      } catch let error as StatewireError where error.code == .connectionLost {
        continue
      }
    }
    while record.view?.isFaulty == true {
      for try await _ in try self.record(number).news.listen() { break }
      try Task.checkCancellation()
    }
    return record.resynchronisations == before
  }

  /// Sees nothing more of a store.
  func forget(_ number: Int) async throws {
    guard let record = records[number] else { return }
    end(record, nil)
    if status == .open {
      _ = try await request("store/unsubscribe", ["store": .string(record.name)])
    }
  }
}
