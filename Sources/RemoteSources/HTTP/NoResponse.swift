// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient

/// The error of a request that failed before its response began.
struct NoResponse: Error {
  let cause: any Error
}

extension RemoteFailure {
  /// Classifies the error of a request.
  /// - Returns: The failure, and the underlying error if it has details.
  static func of(_ error: any Error) -> (RemoteFailure, cause: (any Error)?) {
    switch error {
    case let failure as RemoteFailure: (failure, nil)
    case let error as NoResponse: (isTimeout(error.cause) ? .timeout : .unreachable, error.cause)
    default: (isTimeout(error) ? .timeout : .interrupted, error)
    }
  }

  private static func isTimeout(_ error: any Error) -> Bool {
    let timeouts: [HTTPClientError] = [
      .connectTimeout, .readTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout,
    ]
    return (error as? HTTPClientError).map(timeouts.contains) ?? false
  }
}
