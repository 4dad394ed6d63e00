// SPDX-License-Identifier: Apache-2.0

import BuiltinStoresProtocol
internal import Foundation
import StatewireClient

/// Measures inputs to a list of 1,000 todos over stdio: renames, moves, adds and removes, 256
/// pending at a time. A subscriber reads the states.
///
/// `ClientThroughput PROGRAM [INPUTS]`
@main
struct ClientThroughput {
  static func main() async throws {
    let arguments = CommandLine.arguments
    let count = arguments.count > 2 ? Int(arguments[2]) ?? 10_000 : 10_000
    try await withClient(.program([arguments[1], "serve"])) { client in
      let list = try await client.open(.todo, name: "list", config: ["memory": ["count": 1000]])
      try await list.send(.stateRequested)
      async let reading = countStates(list.states)
      let began = ContinuousClock.now
      let before = processorTime
      try await send(count, to: list)
      let time = milliseconds(ContinuousClock.now - began)
      let busy = processorTime - before
      let isEqual = try await list.verify()
      let (state, revision) = try await list.confirmed
      try await list.unsubscribe()
      let reads = try await reading
      guard case .content(let todos) = state else { return }
      print(
        "\(count) inputs, revision \(revision), \(reads) reads of \(todos.count) todos: "
          + "\(time) ms, \(microseconds(time, count)) µs each; "
          + "\(busy) ms of client CPU time; "
          + "digest \(isEqual ? "equal" : "DIFFERENT")")
      if !isEqual { exit(1) }
    }
  }

  /// Counts states until the subscription ends.
  private static func countStates<States: AsyncSequence & Sendable>(_ states: States) async throws
    -> Int
  {
    var count = 0
    for try await _ in states { count += 1 }
    return count
  }

  /// Sends inputs to existing todos: the initial ones, and those that were added.
  @concurrent
  private static func send(
    _ count: Int, to list: RemoteStore<TodoInput, TodoViewState<[Todo]>>
  ) async throws {
    var ids = (1...1000).map(String.init)
    var pending: [PendingInput] = []
    for number in 0..<count {
      let place = number * 7919 % ids.count
      let id = ids[place]
      let input: TodoInput
      switch number % 4 {
      case 0: input = .todoRenamed(id: id, title: try TodoTitle("Title \(number)"))
      case 1: input = .todoMoved(id: id, before: ids[number % ids.count])
      case 2:
        input = .todoAdded(title: try TodoTitle("Todo \(number)"))
        ids.append("\(1001 + number / 4)")
      default:
        input = .todoRemoved(id: id)
        ids.remove(at: place)
      }
      pending.append(try await list.post(input))
      if pending.count == 256 {
        _ = try await pending.removeFirst().result
      }
    }
    for input in pending { _ = try await input.result }
  }

  /// The CPU time of this program, in milliseconds.
  private static var processorTime: Int { Int(clock()) * 1000 / Int(CLOCKS_PER_SEC) }

  private static func milliseconds(_ duration: Duration) -> Int {
    Int(duration / .milliseconds(1))
  }

  private static func microseconds(_ milliseconds: Int, _ count: Int) -> Int {
    milliseconds * 1000 / max(count, 1)
  }
}
