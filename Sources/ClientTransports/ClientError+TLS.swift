// SPDX-License-Identifier: Apache-2.0

internal import NIOSSL

extension ClientError {
  /// What an error of TLS says to whoever wanted to talk to a server; nil for another error.
  init?(tls error: any Error) {
    switch error {
    case NIOSSLError.handshakeFailed(.sslError(let stack)):
      self = .noTLS(reason: stack.first.map { Self.words(of: $0) } ?? "the handshake failed")
    case NIOSSLError.handshakeFailed: self = .noTLS(reason: "the handshake failed")
    case NIOSSLError.noCertificateToValidate, NIOSSLError.unableToValidateCertificate:
      self = .noTLS(reason: "its certificate cannot be validated")
    // Cut below TLS.
    case NIOSSLError.uncleanShutdown: self = .ended
    case let error as NIOSSLExtraError where error == .failedToValidateHostname:
      self = .noTLS(reason: "its certificate is for another name")
    default: return nil
    }
  }

  /// The library's name for what was wrong, `WRONG_VERSION_NUMBER` say, without its numbers and places in its
  /// source.
  private static func words(of error: BoringSSLInternalError) -> String {
    let parts = error.description.split(separator: ":")
    guard let part = parts.first(where: { $0.contains(" at ") }) ?? parts.last else {
      return "the handshake failed"
    }
    let name = part.firstRange(of: " at ").map { part[..<$0.lowerBound] } ?? part
    return name.drop { $0 == " " }.replacing("_", with: " ").lowercased()
  }
}
