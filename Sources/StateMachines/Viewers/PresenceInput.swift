// SPDX-License-Identifier: Apache-2.0

/// The input of a presence-aware machine, for code that is generic over all state machines.
enum PresenceInput<Machine: StateMachine> {
  /// Returns the input for the viewers; nil if there is none or the machine is not aware of them.
  static func input(_ machine: Machine, _ viewers: [Viewer]) -> Machine.Input? {
    guard let machine = machine as? any PresenceAwareMachine else { return nil }
    return input(of: machine, viewers) as? Machine.Input
  }

  private static func input(of machine: some PresenceAwareMachine, _ viewers: [Viewer]) -> Any? {
    machine.input(for: viewers)
  }

  /// True if the machine is aware of its viewers.
  static var isAware: Bool { Machine.self is any PresenceAwareMachine.Type }
}
