// SPDX-License-Identifier: Apache-2.0

import StatewireServer

@main
struct AuctionServer: ServerProgram {
  static let abstract = "Serves an auction that all sessions share."
  static let kinds: ServerKinds = [
    StoreKind("auction", scope: .shared(), refusing: refusal) { Auction() }
  ]
  static var site: WebSite { WebSite(folder: "Examples/Auction/web") }

  /// Watching needs no name. Offers and bids do.
  @Sendable
  private static func refusal(_ access: StoreAccess, _ viewer: Viewer) -> InputRefusal? {
    access == .send && viewer.person == "guest"
      ? InputRefusal(.value, "offers and bids need a name") : nil
  }
}
