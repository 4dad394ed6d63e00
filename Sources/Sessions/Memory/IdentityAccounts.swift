// SPDX-License-Identifier: Apache-2.0

/// The bytes that are held for all, and as parts of them those for each identity.
public final class IdentityAccounts {
  public let all: ByteAccount
  private let maximumPerIdentity: Int
  private var identities: [ByteString: ByteAccount] = [:]

  /// - Parameters:
  ///   - maximum: How many bytes there may be in all.
  ///   - maximumPerIdentity: How many of one identity; nil: half of all.
  public init(maximum: Int, maximumPerIdentity: Int? = nil) {
    all = ByteAccount(maximum: maximum)
    self.maximumPerIdentity = maximumPerIdentity ?? max(1, maximum / 2)
  }

  /// The account of an identity; without one it is that of all.
  public func account(of identity: String?) -> ByteAccount {
    guard let identity else { return all }
    let name = ByteString(identity)
    if let account = identities[name] { return account }
    let account = ByteAccount(maximum: maximumPerIdentity, within: all)
    identities[name] = account
    return account
  }
}
