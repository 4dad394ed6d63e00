// SPDX-License-Identifier: Apache-2.0

internal import NIOSSL

extension ClientError {
  /// Converts an error of TLS; nil for any other error.
  init?(tls error: any Error) {
    switch error {
    case NIOSSLError.handshakeFailed(.sslError(let stack)):
      self = .noTLS(reason: stack.first.map { Self.libraryName(of: $0) } ?? "the handshake failed")
    case NIOSSLError.handshakeFailed: self = .noTLS(reason: "the handshake failed")
    case NIOSSLError.noCertificateToValidate, NIOSSLError.unableToValidateCertificate:
      self = .noTLS(reason: "its certificate cannot be validated")
    // The connection ended without close_notify.
    case NIOSSLError.uncleanShutdown: self = .ended
    case let error as NIOSSLExtraError where error == .failedToValidateHostname:
      self = .noTLS(reason: "its certificate is for another name")
    default: return nil
    }
  }

  /// Returns the TLS library's name of an error, for example `wrong version number`, without its
  /// numbers and source positions.
  private static func libraryName(of error: BoringSSLInternalError) -> String {
    let parts = error.description.split(separator: ":")
    guard let part = parts.first(where: { $0.contains(" at ") }) ?? parts.last else {
      return "the handshake failed"
    }
    let name = part.firstRange(of: " at ").map { part[..<$0.lowerBound] } ?? part
    return name.drop { $0 == " " }.replacing("_", with: " ").lowercased()
  }
}
