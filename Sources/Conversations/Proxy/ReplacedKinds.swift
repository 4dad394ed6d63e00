// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

/// The store kinds of a server that programs replace (`--store NAME=PROGRAM`). The command `schema`
/// does not know them, and describes the built-in kinds with their names.
struct ReplacedKinds: Equatable {
  /// The names; nil if a file or a variable of the environment may replace any kind.
  let names: Set<String>?

  /// Reads the options of a command.
  ///
  /// - Parameters:
  ///   - command: The program and its arguments.
  ///   - environment: The environment of the program.
  init(command: [String], environment: [String: String]) {
    let hasFile = command.contains { $0 == "--config" || $0.hasPrefix("--config=") }
    let variables = ["STATEWIRE_CONFIG", "STATEWIRE_STORE"]
    guard !hasFile, !variables.contains(where: { environment[$0] != nil }) else {
      names = nil
      return
    }
    let option = "--store"
    let values = command.indices.compactMap { index -> Substring? in
      let word = command[index]
      if word.hasPrefix(option + "=") { return word.dropFirst(option.count + 1) }
      return word == option ? command.dropFirst(index + 1).first.map { $0[...] } : nil
    }
    names = Set(values.map { String($0.prefix { $0 != "=" }) })
  }
}

extension JSONValue {
  /// Returns the description of a server without some of its kinds.
  func withoutKinds(_ names: Set<String>) -> JSONValue {
    guard var document = object, let stores = document["x-stores"]?.object else { return self }
    document["x-stores"] = .object(JSONObject(stores.filter { !names.contains($0.key) }))
    return .object(document)
  }
}
