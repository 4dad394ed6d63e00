// SPDX-License-Identifier: Apache-2.0

public import StateMachines
public import StatewireJSON

/// One event of a session, as the console shows it in a timeline.
public struct RecordedEvent: Sendable {
  /// The number of the event in its recording, from 1.
  public let number: Int
  /// The time on the clock of the session.
  public let time: Duration
  /// The name of the store.
  public let store: String
  /// The name of its kind.
  public let kind: String
  /// The event.
  public internal(set) var content: Content

  /// The kinds of events. Texts are JSON, and nil if they were too large or have been redacted.
  public enum Content: Sendable {
    /// The store was opened, or the recording began; with the configuration and the revision.
    case opened([UInt8]?, revision: Revision)
    /// The store was closed.
    case closed
    /// An input began. Its text and the participant that has sent it are nil for an input of the server.
    case input(TraceRecord, text: [UInt8]?, viewer: Viewer?)
    /// An input of a client was refused before it began.
    case refused(text: [UInt8]?, viewer: Viewer?)
    /// A record of the trace, except the beginning of an input.
    case traced(TraceRecord)
    /// The store published a new view state. The second patch is that of a hidden state, nil without one.
    case updated(base: Revision, revision: Revision, patch: [UInt8]?, hidden: [UInt8]?)
    /// The store sent an event to its clients.
    case happened([UInt8]?)
    /// The whole view state, from which later states are computed, and the state of which a copy can
    /// begin. The console does not show it.
    case state(JSONEncodedState, CopyableState, revision: Revision)
  }

  /// The memory of the event, approximately.
  ///
  /// - Units: bytes.
  var bytes: Int {
    let text =
      switch content {
      case .input(_, let text, _), .refused(let text, _), .happened(let text): text?.count ?? 0
      case .updated(_, _, let patch, let hidden): (patch?.count ?? 0) + (hidden?.count ?? 0)
      case .state(let state, .hidden(let hidden), _): state.expectedBytes + hidden.expectedBytes
      case .state(let state, _, _): state.expectedBytes
      case .opened(let configuration, _): configuration?.count ?? 0
      case .closed, .traced: 0
      }
    return 256 + text
  }

  /// The event without its text.
  var redacted: RecordedEvent {
    var event = self
    switch content {
    case .input(let record, _, let viewer):
      event.content = .input(record, text: nil, viewer: viewer)
    case .refused(_, let viewer): event.content = .refused(text: nil, viewer: viewer)
    case .updated(let base, let revision, _, _):
      event.content = .updated(base: base, revision: revision, patch: nil, hidden: nil)
    case .happened: event.content = .happened(nil)
    case .opened, .closed, .traced, .state: break
    }
    return event
  }
}
