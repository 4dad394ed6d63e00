// SPDX-License-Identifier: Apache-2.0

internal import NIOSSL

extension ClientError {
  /// What an error of TLS says to whoever wanted to talk to a server; nil for another error.
  init?(tls error: any Error) {
    switch error {
    case NIOSSLError.handshakeFailed(.sslError(let stack)):
      self = .noTLS(reason: stack.first.map { Self.words(of: $0) } ?? "the handshake failed")
    case let error as NIOSSLError: self = .noTLS(reason: "\(error)")
    case let error as NIOSSLExtraError where error == .failedToValidateHostname:
      self = .noTLS(reason: "its certificate is for another name")
    default: return nil
    }
  }

  /// The library's name for what was wrong, `WRONG_VERSION_NUMBER` say, without its numbers and places in its source.
  private static func words(of error: BoringSSLInternalError) -> String {
    guard
      let name = error.description.split(separator: ":").map(String.init).first(where: {
        $0.contains(" at ")
      }),
      let end = name.firstRange(of: " at ")
    else { return error.description }
    return name[..<end.lowerBound].replacing("_", with: " ").lowercased()
  }
}
