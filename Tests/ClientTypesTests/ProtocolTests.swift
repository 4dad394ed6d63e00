// SPDX-License-Identifier: Apache-2.0

import ClientTypes
import Foundation
import StatewireJSON
import TestSupport
import Testing

@Suite("Types of the whole protocol")
struct ProtocolTests {
  private func text(_ path: String) throws -> String {
    try String(contentsOf: TestedPackage.root.appending(path: path), encoding: .utf8)
  }

  private func types() throws -> ClientTypes {
    try ClientTypes(
      ofProtocol: JSONValue(parsing: text("Protocol/Schemas/openrpc.json")))
  }

  @Test(
    "are the files of the clients",
    arguments: [
      (ClientTypes.Language.typescript, "clients/javascript/types.d.ts"),
      (.python, "clients/python/src/statewire/types.py"),
    ])
  func areThoseOfTheClients(_ language: ClientTypes.Language, _ file: String) throws {
    #expect(try types().text(in: language) == text(file), "run make client-types")
  }

  @Test("have the names of the schemas", arguments: ClientTypes.Language.allCases)
  func names(_ language: ClientTypes.Language) throws {
    let text = try types().text(in: language)
    for name in ["StoreSendParams", "SessionAttachSnapshotReason", "TodoViewState", "Seconds"] {
      #expect(text.contains(name), "\(name)")
    }
  }
}
