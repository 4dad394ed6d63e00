// SPDX-License-Identifier: Apache-2.0

/// A store that folds the actions of running work only when it is told to.
///
/// What a `TestStore` stands on; it publishes nothing and calls no hooks.
package final class ScriptedStore<Machine: StateMachine> {
  package private(set) var state: Machine.State
  private let machine: Machine
  private let runner: EffectRunner<Machine.Action>
  private var runs: [RunNumber: (name: String, isFeed: Bool)] = [:]
  private var actions: [Machine.Action] = []
  private var tickets = Tickets()

  package init(
    _ machine: Machine, host: any StoreHost, clock: any StoreClock,
    executor: any TaskExecutor
  ) {
    self.machine = machine
    state = machine.initialState
    runner = EffectRunner(host: host, store: StoreNumber(0), clock: clock, executor: executor)
  }

  deinit { _ = runner.cancelAll() }

  /// Whether no work is left that could send an action.
  package var isIdle: Bool { runs.isEmpty }

  /// The names of the work that has not ended, in the order in which it began; without feeds,
  /// which end with their store.
  package var running: [String] {
    runs.filter { !$1.isFeed }.sorted { $0.key.rawValue < $1.key.rawValue }.map(\.value.name)
  }

  /// Whether an action waits to be folded.
  package var hasAction: Bool { !actions.isEmpty }

  /// The action that has waited longest.
  package func nextAction() -> Machine.Action? {
    actions.isEmpty ? nil : actions.removeFirst()
  }

  package func send(_ input: Machine.Input) {
    perform(machine.effect(of: input, in: state), for: tickets.issue())
  }

  package func fold(_ action: Machine.Action) { machine.reduce(&state, action) }

  package func receive(_ message: EffectMessage) {
    switch message.news {
    case .action(let action):
      guard runner.run(message.run) != nil, let action = action as? Machine.Action else { return }
      actions.append(action)
    case .becameFeed(let action):
      guard let run = runner.run(message.run), let action = action as? Machine.Action else {
        return
      }
      actions += runner.cancelFeeds(before: run).compactMap(forget) + [action]
      if runner.becameFeed(message.run) != nil { runs[message.run]?.isFeed = true }
    case .ended:
      _ = runner.ended(message.run)
      runs[message.run] = nil
    }
  }

  /// Cancels all work and forgets what it has sent.
  package func close() {
    _ = runner.cancelAll()
    runs.removeAll()
    actions.removeAll()
  }

  private func perform(_ effect: Effect<Machine.Action>, for ticket: Ticket) {
    switch effect.step {
    case .none: break
    case .action(let action): fold(action)
    case .several(let effects): for effect in effects { perform(effect, for: ticket) }
    case .cancel(let id, let feeds):
      for action in runner.cancel(id, feeds: feeds).compactMap(forget) { fold(action) }
    case .work(let work):
      guard let run = runner.begin(work, for: ticket) else { return }
      runs[run.number] = (work.name, work.isFeed)
    }
  }

  /// A run was cancelled.
  /// - Returns: The action that it leaves.
  private func forget(_ run: EffectRunner<Machine.Action>.Run) -> Machine.Action? {
    runs[run.number] = nil
    return run.cancelled
  }
}
