// SPDX-License-Identifier: Apache-2.0

import BuiltinStoresProtocol
import StatewireClient

/// A frontend: adds the arguments to the list, and prints the list after each change.
///
/// `swift run ShoppingList tcp://127.0.0.1:7227 Milk Bread`
@main
struct ShoppingList {
  static func main() async throws {
    let words = CommandLine.arguments.dropFirst()
    guard let address = words.first.map({ Address($0) }) ?? .program(["statewire", "serve"]) else {
      return print("no address:", words[1])
    }
    try await withClient(address) { client in
      let list = try await client.open(.todo)
      try await list.send(.stateRequested, settle: true)
      for title in words.dropFirst() { try await list.send(.todoAdded(title: TodoTitle(title))) }
      for try await case .content(let todos) in list.states {
        print(todos.map(\.title.printable).joined(separator: ", "))
      }
    }
  }
}
