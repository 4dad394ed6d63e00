// SPDX-License-Identifier: Apache-2.0

public import ServerCore
public import Transports

/// The protection of an admin interface: a token in each request, and TLS where other machines can
/// reach it.
///
/// - Source: RFC 6750 §2.1 (`Authorization: Bearer TOKEN`).
public struct AdminAccess: Sendable {
  /// The tokens of operators. They differ from those of clients, which must not see the metrics.
  public let credentials: Credentials
  /// The certificate of the interface; nil for an interface without TLS, which only this machine can
  /// reach.
  public let certificate: ServerCertificate?

  /// Creates a protection.
  ///
  /// - Parameters:
  ///   - credentials: The tokens of operators.
  ///   - certificate: The certificate of the interface; nil for an interface without TLS, which only
  ///     this machine can reach.
  public init(credentials: Credentials, certificate: ServerCertificate?) {
    (self.credentials, self.certificate) = (credentials, certificate)
  }

  /// The field of a response that refuses a request without a valid token.
  static let challenge = (name: "WWW-Authenticate", value: "Bearer")
  /// The reason to refuse a request without a valid token.
  static let reason = "a request needs Authorization: Bearer TOKEN, with a token of an operator"

  /// Returns the operator whose token a request has; nil if it has no valid token.
  func operatorName(of head: RequestHead) -> String? {
    let words = head.only("authorization")?.split(separator: " ").map(String.init) ?? []
    guard words.count == 2, words[0].lowercased() == "bearer" else { return nil }
    return credentials.identity(of: words[1])?.name
  }
}
