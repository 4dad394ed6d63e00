// SPDX-License-Identifier: Apache-2.0

/// An account for all bytes, and an account for each identity as a part of it.
public final class IdentityAccounts {
  /// The account of all bytes.
  public let all: ByteAccount
  private let maximumPerIdentity: Int
  private var identities: [ByteString: ByteAccount] = [:]

  /// Creates accounts.
  ///
  /// - Parameters:
  ///   - maximum: The maximum number of bytes in total.
  ///   - maximumPerIdentity: The maximum number of bytes of one identity; nil for half of
  ///     `maximum`.
  public init(maximum: Int, maximumPerIdentity: Int? = nil) {
    all = ByteAccount(maximum: maximum)
    self.maximumPerIdentity = maximumPerIdentity ?? max(1, maximum / 2)
  }

  /// Returns the account of an identity; the account of all bytes if `identity` is nil.
  public func account(of identity: String?) -> ByteAccount {
    guard let identity else { return all }
    let name = ByteString(identity)
    if let account = identities[name] { return account }
    let account = ByteAccount(maximum: maximumPerIdentity, within: all)
    identities[name] = account
    return account
  }
}
