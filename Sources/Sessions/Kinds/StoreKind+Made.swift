// SPDX-License-Identifier: Apache-2.0

public import StateMachines
internal import StatewireJSON

extension StoreKind {
  /// A store and the functions that take its inputs and the messages of its effects.
  ///
  /// Closures in addition to the protocol's methods: they are created where the type of the machine
  /// is known, so that the compiler can specialize the whole path of an input.
  public struct Made {
    /// Decodes an input and takes it; see `AnyStore.send`.
    typealias Send = (inout JSONReader, Viewer) throws(InputError) -> SendResult?

    let store: any AnyStore
    var send: Send
    /// Handles a message from running work; see `AnyStore.receive`.
    let receive: (EffectMessage) -> Void

    /// Creates the functions for the store of a machine.
    public init<Machine: StateMachine>(_ store: Store<Machine>) {
      self.store = store
      receive = { store.receive($0) }
      if store.reservesInputs {
        send = { reader, viewer throws(InputError) in
          try store.sendUnlessReserved(reading: &reader, from: viewer)
        }
      } else {
        send = { reader, viewer throws(InputError) in
          try store.send(reading: &reader, from: viewer)
        }
      }
    }

    init(view store: any AnyStore) {
      self.store = store
      receive = store.receive
      send = { reader, viewer throws(InputError) in
        try store.send(reading: &reader, from: viewer)
      }
    }

    init(closed store: ClosedStore) {
      self.store = store
      receive = { _ in }
      send = { _, _ throws(InputError) in throw .closed }
    }
  }
}
