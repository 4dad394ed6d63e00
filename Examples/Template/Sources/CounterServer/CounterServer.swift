// SPDX-License-Identifier: Apache-2.0

import StatewireServer

@main
struct CounterServer: ServerProgram {
  static let name = "counter"
  static let version = "0.1.0"
  static let abstract = "Serves the store kind counter."
  static let kinds: ServerKinds = [StoreKind("counter") { CounterStore() }]

  /// The page. The path is relative to the folder in which the server is started.
  static var site: WebSite { WebSite(folder: "web") }
}
