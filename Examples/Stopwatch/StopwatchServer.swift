// SPDX-License-Identifier: Apache-2.0

import StatewireServer

@main
struct StopwatchServer: ServerProgram {
  static let version = "1.0.0"
  static let abstract = "Serves a stopwatch."
  static let kinds: ServerKinds = [StoreKind("stopwatch") { Stopwatch() }]
}
