// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

// The recordings of the sessions that a console reads.

/// A recorded session.
struct RecordedSession {
  // Weak, because the session may end before its recording.
  weak var session: Session?
}

extension Shard {
  /// The greatest number of sessions that are recorded at the same time.
  public static var maximumRecordings: Int { 16 }
  /// The time without reading after which a recording ends.
  static var recordingTime: Duration { .seconds(15) }

  /// Records a session from now on; does nothing if it is recorded.
  ///
  /// Of several recordings the one that was read least recently ends if there are too many.
  ///
  /// - Parameters:
  ///   - session: The session.
  ///   - now: The present time.
  public func record(_ session: Session, at now: ContinuousClock.Instant) {
    guard session.recording == nil, !session.isEnded else { return }
    endRecordings(at: now)
    if recorded.count >= Self.maximumRecordings,
      let oldest = recorded.indices.min(by: { lastRead(recorded[$0]) < lastRead(recorded[$1]) })
    {
      recorded.remove(at: oldest).session?.record(nil)
    }
    recorded.append(RecordedSession(session: session))
    session.record(SessionRecording(session.clock, at: now))
  }

  private func lastRead(_ recorded: RecordedSession) -> ContinuousClock.Instant {
    recorded.session?.recording?.lastRead ?? .now - .seconds(86_400)
  }

  /// Ends the recordings that have not been read for some time; to be called about once a second.
  ///
  /// - Parameter now: The present time.
  public func endRecordings(at now: ContinuousClock.Instant) {
    if recorded.isEmpty { return }
    recorded.removeAll { recorded in
      guard let session = recorded.session, let recording = session.recording else { return true }
      guard recording.lastRead + Self.recordingTime < now else { return false }
      session.record(nil)
      return true
    }
  }
}
