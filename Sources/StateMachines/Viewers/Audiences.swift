// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The audiences of a store, each with its view.
final class Audiences<Machine: StateMachine> {
  private var stores: [AnyHashable: AudienceStore<Machine>] = [:]
  /// The audiences in the order in which they came.
  private var order: [AnyHashable] = []

  /// Creates the audiences of a store; nil if its machine has none.
  static func ofMachine() -> Audiences? { Machine.hasAudiences ? Audiences() : nil }

  /// Returns the audience of a viewer.
  func audience(of viewer: Viewer, _ machine: Machine) -> AnyHashable {
    AnyHashable(machine.audience(of: viewer))
  }

  private func view(
    _ machine: Machine, _ state: Machine.State, _ audience: AnyHashable
  ) -> Machine.ViewState? {
    (audience.base as? Machine.Audience).map { machine.view(of: state, for: $0) }
  }

  /// Returns the store as an audience sees it, created on first use.
  ///
  /// - Throws: `JSONError` if its view cannot be encoded.
  func store(_ audience: AnyHashable, of store: Store<Machine>) throws(JSONError) -> AudienceStore<
    Machine
  > {
    if let known = stores[audience] { return known }
    let shown = try JSONEncodedState(view(store.machine, store.state, audience))
    let made = AudienceStore(store, shown, revision: store.revision)
    stores[audience] = made
    order.append(audience)
    return made
  }

  /// Removes an audience without viewers.
  func remove(_ audience: AnyHashable) {
    stores[audience] = nil
    order.removeAll { $0 == audience }
  }

  /// Removes all audiences, because the store closes.
  func removeAll() {
    stores = [:]
    order = []
  }

  /// Encodes the views of a new state, before anything is published.
  func encode(
    _ state: Machine.State, of machine: Machine
  ) throws(JSONError) -> [(store: AudienceStore<Machine>, shown: JSONEncodedState)] {
    var all: [(store: AudienceStore<Machine>, shown: JSONEncodedState)] = []
    for audience in order {
      guard let store = stores[audience] else { continue }
      all.append((store, try JSONEncodedState(view(machine, state, audience))))
    }
    return all
  }

  /// The stores of all audiences, in the order in which they came.
  var all: [AudienceStore<Machine>] { order.compactMap { stores[$0] } }
}

extension StateMachine {
  /// True if viewers see different views.
  static var hasAudiences: Bool { Audience.self != Everyone.self }
}
