// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The state of one store at one revision, kept up to date by frames.
///
/// After a fault it takes no frame until it is reset: what comes until then leads on from a state
/// that it does not hold.
final class View {
  let store: String
  private(set) var revision: Int
  /// The state held; one that was handed out is never changed.
  private(set) var state: JSONValue
  private(set) var isFaulty = false

  init(store: String, revision: Int, state: JSONValue) {
    self.store = store
    self.revision = revision
    self.state = state
  }

  /// Holds this state from now on.
  func reset(revision: Int, state: JSONValue) {
    self.revision = revision
    self.state = state
    isFaulty = false
  }

  /// Takes the params of a `store/changed`.
  /// - Returns: What is wrong with it, if something is; then the state is as it was.
  func change(_ frame: JSONValue) -> Fault? {
    if isFaulty { return nil }
    guard let revision = frame["revision"]?.int else { return fault(.patch) }
    if let state = frame["state"] {
      reset(revision: revision, state: state)
      return nil
    }
    guard frame["base"]?.int == self.revision else { return fault(.gap) }
    do {
      try JSONPatch(frame["patch"] ?? .null).apply(inPlace: &state, limits: .ofServer)
    } catch {
      return fault(.patch)
    }
    self.revision = revision
    return nil
  }

  /// Takes the revision of an answer: whoever holds the answer holds the state.
  func answered(revision: Int?) -> Fault? {
    guard !isFaulty, let revision, revision > self.revision else { return nil }
    return fault(.gap)
  }

  /// Takes the answer to a `store/state`.
  ///
  /// Frames that were merged may have come before it and lead further; then nothing can be said.
  func compare(_ answer: JSONValue) -> Fault? {
    if isFaulty { return nil }
    if answer["revision"]?.int == revision,
      answer["digest"]?.int != (try? JSON.digest(of: state)).map(Int.init)
    {
      return fault(.digest)
    }
    return answered(revision: answer["revision"]?.int)
  }

  private func fault(_ fault: Fault) -> Fault {
    isFaulty = true
    return fault
  }
}

/// Why a state was not the server's, and was asked for anew.
public enum Fault: String, Sendable, Hashable {
  /// A frame is missing.
  case gap
  /// A patch does not apply.
  case patch
  /// The digest of the state is another one than the server's.
  case digest
}

extension JSONLimits {
  /// A server is trusted to nest its states as it likes, but for our stack.
  static let ofServer = JSONLimits(maximumDepth: 512, maximumCopiedValues: .max)
}
