// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireJSON

// The traces and the recording of a store. Both exist only while a client or the console wants them.

extension StoreEntry {
  /// Sends the trace of the store to a tracer and to a recording; nil ends either.
  func observe(_ tracer: Tracer?, _ recording: SessionRecording?) {
    if recording !== self.recording {
      self.recording?.unwrap([self] + audienceEntries)
      self.recording = recording
      recording?.opened(self)
      recording?.wrap([self] + audienceEntries)
    }
    if tracer == nil, recording == nil { return store.trace(nil) }
    store.trace { [name, weak self, weak recording] record in
      tracer?.send(record, of: name)
      if let self { recording?.traced(record, of: self) }
    }
  }
}

extension SessionRecording {
  /// Makes inputs of clients pass through the recording, so that they pay nothing without one.
  func wrap(_ entries: [StoreEntry]) {
    for entry in entries {
      let root = entry.parent ?? entry
      let send = entry.replaceSend { [weak self, weak root] send in
        { reader, viewer throws(InputError) in
          guard let self, let root else { return try send(&reader, viewer) }
          var ahead = reader
          let start = ahead.nextValueOffset()
          if let range = try? ahead.skipValue() {
            self.arrives(ahead.bytes(in: range), from: viewer)
          } else {
            self.arrives(reader.bytes(in: start..<start), from: viewer)
          }
          // The fast path of a request, whose refusal is not final: the slow path sends it again.
          let isFastPath = reader.expectsOneValue
          defer { self.arrived(at: root) }
          do throws(InputError) {
            return try send(&reader, viewer)
          } catch {
            if isFastPath, case .undecodable = error { self.withdraw() }
            throw error
          }
        }
      }
      sends[ObjectIdentifier(entry)] = send
    }
  }

  /// Gives the functions back that took the inputs before.
  func unwrap(_ entries: [StoreEntry]) {
    for entry in entries {
      guard let send = sends.removeValue(forKey: ObjectIdentifier(entry)) else { continue }
      _ = entry.replaceSend { _ in send }
    }
  }
}
