// SPDX-License-Identifier: Apache-2.0

import StatewireServer

@main
struct StopwatchServer: ServerProgram {
  static let kinds: ServerKinds = [StoreKind("stopwatch") { Stopwatch() }]
}
