// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StatewireJSON

/// A store whose work performs the orders of the test.
struct Probe: StateMachine {
  enum Input: Codable, Equatable, Sendable {
    /// Sets the number immediately.
    case set(number: Int)
    /// Counts up immediately, with one update for each step.
    case count(steps: Int)
    /// Keeps a text.
    case say(text: String)
    /// Sets the number, then begins work that waits for orders.
    case work(name: String, number: Int?)
    /// Begins two units of work.
    case workTwice(first: String, second: String)
    /// Sets the number twice, and cancels running work between the two.
    case stop(name: String, number: Int)
    /// Begins work that waits for the clock.
    case sleep(seconds: Int)
    /// Changes nothing.
    case nothing
  }

  enum Action: Sendable {
    case set(Int)
    case add(Int)
    case say(String)
  }

  struct State: Codable, Equatable, Sendable {
    var number = 0
    var text = ""
  }

  let initialState = State()
  let orders: Orders

  func effect(of input: Input, in state: State) -> Effect<Action> {
    switch input {
    case .set(let number): .action(.set(number))
    case .count(let steps): .several((0..<steps).map { _ in .action(.add(1)) })
    case .say(let text): .action(.say(text))
    case .work(let name, let number):
      .several(number.map { .action(.set($0)) } ?? .none, work(name))
    case .workTwice(let first, let second): .several(work(first), work(second))
    case .stop(let name, let number):
      .several(
        .action(.set(number - 1)), .cancel(EffectID(name)), .action(.set(number)))
    case .sleep(let seconds):
      .run("sleep") { context in
        do {
          try await context.sleep(for: .seconds(seconds))
        } catch {
          return
        }
        await context.send(.add(1))
      }
    case .nothing: .none
    }
  }

  func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .set(let number): state.number = number
    case .add(let amount): state.number += amount
    case .say(let text): state.text = text
    }
  }

  private func work(_ name: String) -> Effect<Action> {
    .run(name) { [orders] context in
      orders.began(name)
      for await order in orders.stream(name) {
        switch order {
        case .set(let number): await context.send(.set(number))
        case .becomeFeed: await context.becomeFeed(sending: .add(0))
        case .end: return
        }
      }
      orders.ended(name)
    }.cancellable(EffectID(name))
  }
}

/// The orders for running work, by its name.
final class Orders: Sendable {
  enum Order: Sendable {
    case set(Int)
    case becomeFeed
    case end
  }

  private struct State {
    var streams: [String: AsyncStream<Order>] = [:]
    var continuations: [String: AsyncStream<Order>.Continuation] = [:]

    mutating func continuation(_ name: String) -> AsyncStream<Order>.Continuation {
      if let continuation = continuations[name] { return continuation }
      let (stream, continuation) = AsyncStream.makeStream(of: Order.self)
      streams[name] = stream
      continuations[name] = continuation
      return continuation
    }
  }

  private let state = Lock(State())

  /// Gives orders to the work with a name, also before it has begun.
  func tell(_ name: String, _ orders: Order...) {
    let continuation = state.withLock { $0.continuation(name) }
    for order in orders { continuation.yield(order) }
  }

  /// Waits until work with a name has begun.
  func begun(_ name: String) async {
    for await _ in stream("begun " + name) { return }
  }

  func began(_ name: String) { tell("begun " + name, .end) }

  /// Waits until the work with a name has been cancelled and is about to end.
  func cancelled(_ name: String) async {
    for await _ in stream("cancelled " + name) { return }
  }

  func stream(_ name: String) -> AsyncStream<Order> {
    state.withLock { state in
      _ = state.continuation(name)
      return state.streams[name] ?? AsyncStream { $0.finish() }
    }
  }

  func ended(_ name: String) { tell("cancelled " + name, .end) }
}
