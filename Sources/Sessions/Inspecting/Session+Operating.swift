// SPDX-License-Identifier: Apache-2.0

public import StateMachines
internal import StatewireJSON
internal import StatewireProtocol

// The actions of an operator on a session. Call each in a turn.

extension Session {
  /// Sends an input to a store, as a driver with the name `console` and the identity of the session.
  ///
  /// - Parameters:
  ///   - input: The input as JSON text.
  ///   - name: The name of an open store.
  ///   - shard: The shard of the session.
  ///   - replied: Called once the exchanges of the input have ended, immediately if it has none, with the
  ///     reason if one has refused the input; not called if this throws.
  /// - Returns: The revision after the input's immediate actions.
  /// - Throws: `SessionError`; nothing has changed then.
  public func operate(
    sending input: [UInt8], to name: String, isolation shard: isolated Shard,
    replied: @escaping (InputRefusal?) -> Void = { _ in }
  ) throws(SessionError) -> Revision {
    let viewer = Viewer(identity: identity, name: "console", role: .driver)
    return try send(input, to: name, as: viewer, shard, replied: replied)
  }

  /// Sends an input to a store as a viewer, without a client.
  func send(
    _ input: [UInt8], to name: String, as viewer: Viewer, _ shard: isolated Shard,
    replied: @escaping (InputRefusal?) -> Void = { _ in }
  ) throws(SessionError) -> Revision {
    // A client without an object: it gets no messages.
    let client = clients.makeID()
    defer { clients.remove(client) }
    guard storeEntries[name] != nil else { throw .unknownStore(name) }
    let subscription = try attach(
      client, to: name, opening: false, viewer: viewer, isolation: shard)
    defer { detach([subscription]) }
    let result: Result<Revision, SessionError> = input.withUnsafeBytes { bytes in
      var reader = JSONReader(bytes)
      do throws(SessionError) {
        let result = try subscription.send(reading: &reader, request: nil)
        if let result, !result.isReplied {
          subscription.whenReplied(result.inputID) { completion in
            if case .refused(let refusal) = completion.end {
              replied(refusal)
            } else {
              replied(nil)
            }
          }
        } else {
          replied(nil)
        }
        return .success(subscription.revision)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// Ends the session and notifies its clients. A client without a handle is disconnected.
  public func endByOperator(isolation shard: isolated Shard) {
    guard let handle else { return participants.visit { $0.connectedClient?.disconnect() } }
    shard.directory.remove(self)
    write(.ended)
    let leaving = Array(participants)
    participants.removeAll()
    for participant in leaving {
      participant.releaseSubscriptions()
      participant.connectedClient?.sessionClosed(handle, reason: .closed)
    }
    end(isolation: shard)
  }

  /// Evicts a participant, as another frontend with its name does.
  ///
  /// - Parameters:
  ///   - client: The id of its client.
  ///   - shard: The shard of the session.
  /// - Returns: False if the session has no such participant.
  public func evictByOperator(_ client: ClientID, isolation shard: isolated Shard) -> Bool {
    guard let participant = participants.first(where: { $0.client == client }) else { return false }
    guard handle != nil else {
      participant.connectedClient?.disconnect()
      return true
    }
    evict(participant, shard)
    if participants.isEmpty { expire(after: shard.limits.timeToLive, shard) }
    participantsChanged()
    return true
  }
}
