// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
public import StateMachines
internal import StatewireJSON

/// The parts of a store at an earlier revision, from which a copy of it begins, and the inputs that it
/// received since.
public struct StoreCopy: Sendable {
  /// An input of a participant.
  struct Input: Sendable {
    /// The time since the revision.
    let time: Duration
    let text: [UInt8]
    let viewer: Viewer
  }

  /// The name of the store.
  public let store: String
  /// The revision at which the copy begins.
  public let revision: Revision
  let kind: String
  let configuration: [UInt8]
  let state: EarlierState
  /// The calendar time of the revision, since 1970.
  let time: Duration
  let owner: String?
  private(set) var inputs: [Input] = []
  /// The number of inputs since the revision that cannot be sent again: their texts were too large, or
  /// the server has made them.
  public private(set) var omitted = 0

  /// The reason why a store cannot be copied.
  public enum Refusal: Error {
    /// The session has no open store with the name.
    case unknownStore
    /// The state at the revision is not recorded, was too large or has been redacted.
    case unrecorded
    /// The states of the kind are not `Codable`, or the state was too large.
    case uncopyable
  }
}

extension Session {
  /// Returns the parts of a store at a revision that the recording has.
  ///
  /// - Complexity: O(events).
  public func copy(
    of name: String, at revision: Revision
  ) throws(StoreCopy.Refusal) -> StoreCopy {
    guard let entry = storeEntries[name], !entry.isClosed else { throw .unknownStore }
    guard let recording, let parts = recording.parts(of: name, at: revision),
      let start = recording.beginning(of: revision, of: name)
    else { throw .unrecorded }
    guard let state = parts.copyable else { throw .uncopyable }
    let age = clock.uptime - start.time
    var copy = StoreCopy(
      store: name, revision: revision, kind: entry.kind, configuration: entry.configuration,
      state: state, time: clock.sinceEpoch - age, owner: owner)
    let redacted = recording.redactions[name] ?? 0
    for event in recording.events
    where event.number > start.number && event.store.hasSameBytes(as: name) {
      // Work of the store that belongs to no input has no name.
      guard case .input(let record, let text, let viewer) = event.content, record.input != nil
      else { continue }
      if event.number > redacted, let text, let viewer {
        copy.add(.init(time: event.time - start.time, text: text, viewer: viewer))
      } else {
        copy.omit()
      }
    }
    return copy
  }
}

extension StoreCopy {
  fileprivate mutating func add(_ input: Input) { inputs.append(input) }
  fileprivate mutating func omit() { omitted += 1 }
}

extension SessionRecording {
  /// Returns the event with which a revision of a store begins; nil if it is not kept.
  fileprivate func beginning(of revision: Revision, of store: String) -> RecordedEvent? {
    events.first { event in
      guard event.store.hasSameBytes(as: store) else { return false }
      return switch event.content {
      case .updated(_, revision, _, _), .state(_, _, revision): true
      default: false
      }
    }
  }
}
