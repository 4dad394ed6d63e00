// SPDX-License-Identifier: Apache-2.0

// A node among others loads a session when a client attaches:
//
//     in memory      this node serves it
//     claimed        no other node owned it: it is loaded and continues here
//     elsewhere      the connection of the client is relayed to its node
//     ended, unknown the client receives the same errors as from a single node

extension Shard {
  /// Returns true if a client that attaches to a session has to wait for `locate`.
  func mustLocate(_ text: String) -> Bool {
    guard let handle = SessionHandle(text) else { return false }
    return directory[handle] == nil
  }

  /// Claims and loads a session, and calls `body` in a turn.
  func locate(
    _ text: String, _ ownership: any SessionOwnership, _ body: @escaping SessionLoader.Step
  ) {
    guard let handle = SessionHandle(text), directory[handle] == nil, !loader.isStopped else {
      return body(self)
    }
    if loader.add(body, for: handle, asked: sinceEpoch) { claim(handle, ownership) }
  }

  /// Returns the place of a session that could not be loaded; called in the step that waited for the
  /// session.
  public func placeElsewhere(of text: String) -> SessionPlace? {
    guard let elsewhere = loader.elsewhere, SessionHandle(text) == elsewhere.session else {
      return nil
    }
    return elsewhere.place
  }

  /// Loads a session that this node has claimed.
  func loadClaimed(_ handle: SessionHandle) {
    guard directory[handle] == nil, !loader.isStopped, loader.add({ _ in }, for: handle) else {
      return
    }
    beginLoading(handle)
  }

  private func claim(_ handle: SessionHandle, _ ownership: any SessionOwnership) {
    // Otherwise the node would give up a session that it has just loaded again.
    guard !loader.releasing.contains(handle) else {
      return wait(.milliseconds(20)) { shard in shard.claim(handle, ownership) }
    }
    ownership.claim(handle) { [group, place] result in
      group.member(place.index)?.turn { shard in shard.take(result, handle) }
    }
  }

  private func take(_ claim: Result<SessionClaim, any Error>, _ handle: SessionHandle) {
    switch claim {
    case .success(.owned): beginLoading(handle)
    case .success(.otherNode(let node)): located(handle, .node(node))
    case .success(.ended(let owner)):
      directory.add(ended: handle, of: owner)
      located(handle)
    case .success(.unknown): located(handle)
    case .failure: located(handle, .unknown)
    }
  }

  /// Takes a session that this node has claimed and read.
  func takeClaimed(_ result: Result<LoadedSession, any Error>, _ handle: SessionHandle) {
    switch result {
    case .success(let loaded):
      guard !loader.isStopped else { break }
      restore(loaded, handle, asked: loader.asked(handle))
    case .failure(let error as SessionOnOtherNode):
      return located(handle, error.node.map { .node($0) } ?? .unknown)
    case .failure(let error):
      loader.report("cannot load a session: \(error)")
      return located(handle, error is UnreadableSession ? .unreadable : .unknown)
    }
    located(handle)
  }

  /// Calls the steps that wait for a session.
  private func located(_ handle: SessionHandle, _ place: SessionPlace? = nil) {
    loader.elsewhere = place.map { (handle, $0) }
    for step in loader.take(handle).steps { step(self) }
    loader.elsewhere = nil
  }
}
