// SPDX-License-Identifier: Apache-2.0

public import ServerCore

/// The protection of an admin interface that other machines can reach: TLS, and a token in each
/// request.
///
/// - Source: RFC 6750 §2.1 (`Authorization: Bearer TOKEN`).
public struct AdminAccess: Sendable {
  /// The tokens of operators. They differ from those of clients, which must not see the metrics.
  public let credentials: Credentials
  /// The certificate of the interface.
  public let certificate: ServerCertificate

  /// Creates a protection.
  public init(credentials: Credentials, certificate: ServerCertificate) {
    (self.credentials, self.certificate) = (credentials, certificate)
  }

  /// Returns the response to a request without a valid token; nil if the token is valid.
  func refusal(of head: RequestHead) -> WebResponse? {
    let words = head.only("authorization")?.split(separator: " ").map(String.init) ?? []
    if words.count == 2, words[0].lowercased() == "bearer",
      credentials.identity(of: words[1]) != nil
    {
      return nil
    }
    return WebResponse(
      .unauthorised, "a request needs Authorization: Bearer TOKEN, with a token of an operator",
      fields: [("WWW-Authenticate", "Bearer")])
  }
}
