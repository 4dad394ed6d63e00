// SPDX-License-Identifier: Apache-2.0

import Sessions
import Transports

let server = try await Server.start(
  kinds: [StoreKind("stopwatch") { Stopwatch() }],
  listeners: [.tcp(host: "127.0.0.1", port: 7228)])
print("listening on \(server.addresses[0])")
await server.untilEnded()
