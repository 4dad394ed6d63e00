// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The view state of one store at one revision, updated by `store/changed`.
///
/// After a divergence the replica ignores updates until it is reset: they start from a state that
/// it does not hold.
final class Replica {
  let store: String
  private(set) var revision: Int
  /// The current state. Values that were read before do not change.
  private(set) var state: JSONValue
  private(set) var hasDiverged = false

  init(store: String, revision: Int, state: JSONValue) {
    self.store = store
    self.revision = revision
    self.state = state
  }

  /// Replaces the state.
  func reset(revision: Int, state: JSONValue) {
    self.revision = revision
    self.state = state
    hasDiverged = false
  }

  /// Applies the params of a `store/changed`.
  ///
  /// - Returns: The divergence that they reveal, if any. The state is unchanged then.
  func apply(_ update: JSONValue) -> Divergence? {
    if hasDiverged { return nil }
    guard let revision = update["revision"]?.int else { return diverge(.patch) }
    if let state = update["state"] {
      reset(revision: revision, state: state)
      return nil
    }
    guard update["base"]?.int == self.revision else { return diverge(.gap) }
    do {
      try JSONPatch(update["patch"] ?? .null).apply(inPlace: &state, limits: .ofServer)
    } catch {
      return diverge(.patch)
    }
    self.revision = revision
    return nil
  }

  /// Compares the revision of a response: the update to that revision must have arrived before it.
  func checkResponse(revision: Int?) -> Divergence? {
    guard !hasDiverged, let revision, revision > self.revision else { return nil }
    return diverge(.gap)
  }

  /// Compares the result of `store/state` with the replica.
  ///
  /// A coalesced update may have arrived before the result and have a later revision. Then the
  /// result says nothing about the replica.
  func compare(_ result: JSONValue) -> Divergence? {
    if hasDiverged { return nil }
    if result["revision"]?.int == revision,
      result["digest"]?.int != (try? JSON.digest(of: state)).map(Int.init)
    {
      return diverge(.digest)
    }
    return checkResponse(revision: result["revision"]?.int)
  }

  private func diverge(_ divergence: Divergence) -> Divergence {
    hasDiverged = true
    return divergence
  }
}

/// A difference between a replica and the server's state, after which the client requests the whole
/// state.
public enum Divergence: String, Sendable, Hashable {
  /// An update is missing.
  case gap
  /// A patch does not apply.
  case patch
  /// The digests differ.
  case digest
}

extension JSONLimits {
  /// The server is trusted. The depth is limited by the stack of this program.
  static let ofServer = JSONLimits(maximumDepth: 512, maximumCopiedValues: .max)
}
