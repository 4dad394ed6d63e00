// SPDX-License-Identifier: Apache-2.0

/// A shard's account for all bytes, and an account for each identity as a part of it.
public final class IdentityAccounts {
  /// The account of all bytes.
  public let all: ByteAccount
  private let pools: MemoryPools
  private var identities: [ByteString: ByteAccount] = [:]

  /// Creates accounts of bytes that all shards may use together.
  public init(_ pools: MemoryPools) {
    all = ByteAccount(pools.all)
    self.pools = pools
  }

  /// Returns the account of an identity; the account of all bytes if `identity` is nil.
  public func account(of identity: String?) -> ByteAccount {
    guard let identity else { return all }
    let name = ByteString(identity)
    if let account = identities[name] { return account }
    let account = ByteAccount(pools.pool(of: name), within: all)
    identities[name] = account
    return account
  }

  /// Adapts the parts of the pools to the bytes that are used; called once a second.
  func rebalance() {
    all.rebalance()
    for account in identities.values { account.rebalance() }
  }
}
