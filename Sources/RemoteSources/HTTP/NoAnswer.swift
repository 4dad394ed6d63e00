// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient

/// A server gave no answer, not even the beginning of one.
struct NoAnswer: Error {
  let cause: any Error
}

extension RemoteFailure {
  /// What an error of a request means.
  /// - Returns: The failure, and what lay behind it if that says more.
  static func of(_ error: any Error) -> (RemoteFailure, cause: (any Error)?) {
    switch error {
    case let failure as RemoteFailure: (failure, nil)
    case let error as NoAnswer: (isTimeout(error.cause) ? .timeout : .unreachable, error.cause)
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
