// SPDX-License-Identifier: Apache-2.0

internal import ServerCore

/// What a server is at its edge: where bytes come from and go to; see `Server` for its words.
protocol Rim: Sendable {
  var shard: Shard { get }
  var addresses: [ServerAddress] { get }

  func untilEnded() async
  func credentialsChanged()
  func stop() async
}
