// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Synchronization

/// Records the connections of a relay into one file.
///
/// A fault of the file ends the recording, not the relay.
final class RecordingTap: RelayTap {
  private struct State: ~Copyable {
    var recorder: ConversationRecorder
    var file: RecordingFile
    var connections: [Int: Recorded] = [:]
    var lastConnection = 0
    var hasFailed = false
  }

  private struct Recorded {
    var messages = RelayedMessages()
    /// The number in the recorder; nil before the first message, so that connections without
    /// messages do not occur in the file.
    var number: Int?
  }

  private let state: Mutex<State>
  private let start = ContinuousClock.now
  private let report: @Sendable (String) -> Void

  /// - Throws: `FileFault` if the file cannot be used.
  init(
    _ recorder: ConversationRecorder, path: String, heading: [String],
    report: @escaping @Sendable (String) -> Void
  ) throws(FileFault) {
    var file = try RecordingFile(path: path)
    for line in heading { try file.add(line) }
    state = Mutex(State(recorder: recorder, file: file))
    self.report = report
  }

  func opened() -> Int {
    state.withLock { state in
      state.lastConnection += 1
      state.connections[state.lastConnection] = Recorded()
      return state.lastConnection
    }
  }

  func received(_ bytes: UnsafeRawBufferPointer, from side: RelaySide, on connection: Int) {
    state.withLock { state in
      guard let events = state.connections[connection]?.messages.take(bytes, from: side.recorded)
      else { return }
      add(events, from: side, on: connection, &state)
    }
  }

  func ended(_ side: RelaySide, of connection: Int, isAbrupt: Bool) {
    state.withLock { state in
      if let events = state.connections[connection]?.messages.finish(side.recorded) {
        add(events, from: side, on: connection, &state)
      }
      if let number = state.connections[connection]?.number {
        let lines = state.recorder.ended(
          side.recorded, of: number, isAbrupt: isAbrupt, at: ContinuousClock.now - start)
        write(lines, &state)
      }
      if isAbrupt { state.connections[connection] = nil }
    }
  }

  func failed(_ connection: Int, reason: String) { report(reason) }

  private func add(
    _ events: [RelayedMessages.Event], from side: RelaySide, on connection: Int,
    _ state: inout State
  ) {
    let time = ContinuousClock.now - start
    for event in events {
      let number = state.connections[connection]?.number ?? state.recorder.opened()
      state.connections[connection]?.number = number
      let lines =
        switch event {
        case .message(let message):
          state.recorder.took(message, from: side.recorded, on: number, at: time)
        case .ended: state.recorder.ended(side.recorded, of: number, at: time)
        case .unreadable(let reason): state.recorder.stopped(number, reason: reason)
        }
      write(lines, &state)
    }
  }

  private func write(_ lines: [String], _ state: inout State) {
    if state.hasFailed { return }
    do throws(FileFault) {
      for line in lines { try state.file.add(line) }
    } catch {
      state.hasFailed = true
      report("the recording has ended: \(error)")
    }
  }
}

extension RelaySide {
  fileprivate var recorded: ConversationRecorder.Side {
    switch self {
    case .client: .client
    case .server: .server
    }
  }
}
