// SPDX-License-Identifier: Apache-2.0

import BuiltinStoresProtocol
internal import Foundation
import StatewireClient

/// How long inputs take whose patches are applied to a list of 1,000: renames, moves, adds and removes,
/// 256 on their way at a time, over stdio, with somebody who looks at the states.
///
/// `ClientThroughput PROGRAM [INPUTS]`
@main
struct ClientThroughput {
  static func main() async throws {
    let arguments = CommandLine.arguments
    let count = arguments.count > 2 ? Int(arguments[2]) ?? 10_000 : 10_000
    try await withClient(.program([arguments[1], "serve"])) { client in
      let list = try await client.open(.todo, as: "list", config: ["memory": ["count": 1000]])
      try await list.send(.stateRequested)
      async let looking = looks(at: list.states)
      let began = ContinuousClock.now
      let before = processorTime
      try await send(count, to: list)
      let time = milliseconds(ContinuousClock.now - began)
      let busy = processorTime - before
      let isEqual = try await list.check()
      let (state, revision) = try await list.confirmed
      try await list.close()
      let looks = try await looking
      guard case .content(let todos) = state else { return }
      print(
        "\(count) inputs, revision \(revision), \(looks) looks at \(todos.count) todos: "
          + "\(time) ms, \(microseconds(time, count)) µs each; "
          + "\(busy) ms of them the client's processor time; "
          + "digest \(isEqual ? "equal" : "DIFFERENT")")
      if !isEqual { exit(1) }
    }
  }

  /// How many states are there to be looked at, until their store is closed.
  private static func looks<States: AsyncSequence & Sendable>(at states: States) async throws -> Int
  {
    var looks = 0
    for try await _ in states { looks += 1 }
    return looks
  }

  /// Sends inputs whose todos are there: those of the beginning, and those added since.
  @concurrent
  private static func send(
    _ count: Int, to list: RemoteStore<TodoInput, TodoViewState<[Todo]>>
  ) async throws {
    var ids = (1...1000).map(String.init)
    var answers: [Posted] = []
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
      answers.append(try await list.post(input))
      if answers.count == 256 {
        _ = try await answers.removeFirst().answer
      }
    }
    for answer in answers { _ = try await answer.answer }
  }

  /// The processor time of this program, in milliseconds.
  private static var processorTime: Int { Int(clock()) * 1000 / Int(CLOCKS_PER_SEC) }

  private static func milliseconds(_ duration: Duration) -> Int {
    Int(duration / .milliseconds(1))
  }

  private static func microseconds(_ milliseconds: Int, _ count: Int) -> Int {
    milliseconds * 1000 / max(count, 1)
  }
}
