// SPDX-License-Identifier: Apache-2.0

import BuiltinKinds
import EmbeddedStorage
import Sessions
import Transports

let database = EmbeddedDatabase(folder: "stopwatch-data") { print($0) }
let server = try await Server.start(
  kinds: StoreKind.builtin(lists: database.todoLists, balance: database.ledger)
    + [StoreKind("stopwatch") { Stopwatch() }],
  listeners: [.tcp(host: "127.0.0.1", port: 7228)])
print("listening on \(server.addresses[0])")
await server.untilEnded()
