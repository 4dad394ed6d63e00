// SPDX-License-Identifier: Apache-2.0

import StatewireServer

/// The server with which the tests of the clients check that values of all types arrive and return
/// unchanged.
@main
struct TypesServer: ServerProgram {
  static let kinds: ServerKinds = [StoreKind("types") { Types() }]
}
