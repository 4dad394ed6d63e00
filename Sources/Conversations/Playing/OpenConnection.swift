// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

/// An open connection of a conversation that is being played, with its latest messages.
struct OpenConnection {
  /// The number of messages that a failure shows.
  private static let shownMessages = 4

  let name: String
  let channel: any ConversationChannel
  private(set) var history: [String] = []

  init(name: String, channel: any ConversationChannel) {
    self.name = name
    self.channel = channel
  }

  mutating func sent(_ what: String) { note("-->", what) }

  mutating func received(_ what: String) { note("<--", what) }

  private mutating func note(_ arrow: String, _ what: String) {
    let prefix = name.isEmpty ? arrow : "\(name) \(arrow)"
    history.append("\(prefix) \(what.shortened(to: 400))")
    if history.count > Self.shownMessages { history.removeFirst() }
  }
}

extension [UInt8] {
  /// The bytes as text in one line.
  var readable: String { String(decoding: prefix(1600), as: UTF8.self).printable }
}
