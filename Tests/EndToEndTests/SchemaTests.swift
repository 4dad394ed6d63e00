// SPDX-License-Identifier: Apache-2.0

import Foundation
import StatewireJSON
import TestSupport
import Testing

@Suite("Schema discovery", .timeLimit(.minutes(15)))
struct SchemaTests {
  private func kept(_ name: String) throws -> String {
    let file = TestedPackage.root.appending(path: "Protocol/Schemas").appending(path: name)
    return try String(contentsOf: file, encoding: .utf8)
  }

  @Test("statewire schema, rpc.discover and the stored files are the same")
  func isKept() throws {
    let printed = try Program.run(["schema"], input: "")
    #expect(printed.status == 0)
    // A message instead of the texts, which are long. `make schemas` updates the files.
    #expect(try printed.output == kept("openrpc.json"), "Protocol/Schemas/openrpc.json is old")
    let schemas = try Program.run(["schema", "--json-schema"], input: "")
    #expect(try schemas.output == kept("schema.json"), "Protocol/Schemas/schema.json is old")

    let served = try Program.run(
      ["serve"], input: #"{"jsonrpc": "2.0", "id": 1, "method": "rpc.discover"}"# + "\n")
    let response = try JSONValue(parsing: served.output)
    #expect(try response["result"] == JSONValue(parsing: printed.output))
  }
}
