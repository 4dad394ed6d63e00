// SPDX-License-Identifier: Apache-2.0

import Documents
import StatewireServer

@main
struct GuestBookServer: ServerProgram {
  static let abstract = "Serves a guest book in a stored table."
  static let kinds = ServerKinds { context in
    [StoreKind("guestBook") { GuestBook(entries: Table("guestBook", in: context.documents)) }]
  }
  static var documentLimits: DocumentLimits {
    var limits = DocumentLimits()
    limits.rowBytes = 4 << 10
    return limits
  }
}
