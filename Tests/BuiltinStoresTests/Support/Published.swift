// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StatewireJSON
import Testing

/// A recorder of the publications of a store with immediate effects.
actor Published<Machine: StateMachine>: StoreHost {
  func deliver(_ message: EffectMessage) { Issue.record("a store without work sent a message") }

  /// Sends inputs as JSON and returns the initial state and a patch for each publication.
  func texts(_ machine: Machine, _ inputs: [String]) throws -> [String] {
    let store = try Store(machine, number: StoreNumber(1), host: self)
    var texts: [String] = []
    _ = store.listen { publication in
      if let patch = publication.patch {
        texts.append(String(decoding: patch, as: UTF8.self))
      } else {
        var state = JSONWriter()
        publication.writeState(to: &state)
        texts.append(state.string())
      }
    }
    for input in inputs {
      try input.utf8.span.withUnsafeBytes { bytes in
        var reader = JSONReader(bytes)
        _ = try (store as any AnyStore).send(reading: &reader, from: .server)
      }
    }
    return texts
  }
}
