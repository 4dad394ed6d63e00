// SPDX-License-Identifier: Apache-2.0

import Sessions
import StateMachines
import StatewireJSON
import TestSupport

/// An external service that outlives the process, and performs an operation only once for each id.
final class Bank: Sendable {
  private struct State {
    var done: Set<OperationID> = []
    var items: [Int] = []
  }

  private let state: Watched<State>

  init() { state = Watched(State()) }

  private init(_ other: State) { state = Watched(other) }

  func write(_ item: Int, _ id: OperationID?) {
    state.withLock { state in
      if let id, !state.done.insert(id).inserted { return }
      state.items.append(item)
    }
  }

  /// The items that were written, in order.
  var items: [Int] { state.withLock { $0.items } }

  /// Returns when the bank has exactly these items.
  func holds(_ items: [Int]) async throws { try await state.until { $0.items == items } }

  /// Returns a bank with the same contents.
  func copy() -> Bank { Bank(state.withLock { $0 }) }
}

/// A store with effects of all restart policies. Its view state omits a part of its state.
struct Errands: DurableMachine {
  enum Input: Codable, Sendable {
    case add(amount: Int)
    /// Publishes several updates.
    case addEach(amounts: [Int])
    /// Writes to the bank, and writes again after a restart.
    case write(item: Int)
    /// Ends after a time that counts from when the input was accepted, also after a restart.
    case later(item: Int, seconds: Int)
    /// Fails after a restart.
    case risk(item: Int)
    /// Ends without a result after a restart.
    case idle(item: Int)
    case hide
  }

  enum Action: Sendable {
    case add(Int)
    case done(Int)
    case failed(Int)
    case hide
  }

  struct State: Codable, Sendable {
    var count = 0
    var done: [Int] = []
    var failed: [Int] = []
    var isHidden = false
    /// A part of the state that is not in the view state.
    var steps = 0
  }

  struct ViewState: Codable, Sendable {
    var count: Int?
    var done: [Int]
    var failed: [Int]
  }

  let initialState = State()
  let bank: Bank

  func effect(of input: Input, in state: State) -> Effect<Action> {
    switch input {
    case .add(let amount): .action(.add(amount))
    case .addEach(let amounts): .several(amounts.map { .action(.add($0)) })
    case .write(let item):
      .identified { [bank] id in
        .run("write") { context in
          bank.write(item, id)
          await context.send(.done(item))
        }
      }
    case .later(let item, let seconds): .after(.seconds(seconds), .action(.done(item)))
    case .risk(let item), .idle(let item): .after(.seconds(5), .action(.done(item)))
    case .hide: .action(.hide)
    }
  }

  func restart(of input: Input, in state: State, after elapsed: Duration) -> Effect<Action> {
    switch input {
    case .write: effect(of: input, in: state)
    case .later(let item, let seconds):
      .after(max(.zero, .seconds(seconds) - elapsed), .action(.done(item)))
    case .risk(let item): .action(.failed(item))
    case .idle, .add, .addEach, .hide: .none
    }
  }

  func reduce(_ state: inout State, _ action: Action) {
    state.steps += 1
    switch action {
    case .add(let amount): state.count += amount
    // An action that is repeated after a restart may have been folded before it.
    case .done(let item): if !state.done.contains(item) { state.done.append(item) }
    case .failed(let item): state.failed.append(item)
    case .hide: state.isHidden.toggle()
    }
  }

  func view(of state: State) -> ViewState {
    ViewState(count: state.isHidden ? nil : state.count, done: state.done, failed: state.failed)
  }

  func isRedaction(_ action: Action) -> Bool { if case .hide = action { true } else { false } }
}

/// A list. Its view state is its state.
struct Shelf: DurableMachine {
  struct Item: Codable, Identifiable, Sendable {
    let id: String
    var title: String
  }
  enum Input: Codable, Sendable {
    case put(id: String, title: String)
    case drop(id: String)
    case moveFirst(id: String)
  }
  struct State: Codable, Sendable { var items: KeyedList<Item> = [] }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Input> { .action(input) }
  func restart(of input: Input, in state: State, after elapsed: Duration) -> Effect<Input> { .none }

  func reduce(_ state: inout State, _ action: Input) {
    switch action {
    case .put(let id, let title):
      if !state.items.update(id: id, { $0.title = title }) {
        state.items.append(Item(id: id, title: title))
      }
    case .drop(let id): state.items.remove(id: id)
    case .moveFirst(let id): state.items.move(id: id, before: state.items.first { _ in true }?.id)
    }
  }
}

extension [StoreKind] {
  /// Returns two kinds that can be journaled, and some that cannot.
  static func durable(_ bank: Bank = Bank()) -> [StoreKind] {
    .counters + [StoreKind("errands") { Errands(bank: bank) }, StoreKind("shelf") { Shelf() }]
  }
}
