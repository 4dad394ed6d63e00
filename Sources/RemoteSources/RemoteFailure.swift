// SPDX-License-Identifier: Apache-2.0

/// A failure of a source or a service, for users of a frontend.
///
/// Each has a stable code and one sentence. Neither contains the URL or path of a source or any of
/// its content.
enum RemoteFailure: Error, Equatable, Sendable {
  /// No connection could be made, or it ended before the response began.
  case unreachable
  /// Connecting, waiting for more bytes or the whole request took too long.
  case timeout
  /// The response has a status that is neither 200 nor a redirect.
  case status(UInt)
  /// The response redirects to another server, redirects too often, or has no usable `Location`.
  case redirected
  /// The content is larger than the operator allows.
  case tooLarge(maximumBytes: Int)
  /// The current loads have used all bytes that they may have together.
  case busy
  /// The connection ended, or reading failed, before the end of the content.
  case interrupted
  /// The content is not UTF-8.
  case notText
  /// The content is not a JSON text.
  case notJSON
  /// The response of a balance service is not a balance.
  case invalidBalance
  /// The file does not exist.
  case missing
  /// The name is that of a link, a folder, a pipe or a device.
  case notAFile
  /// The file cannot be opened or read, for example for lack of permission.
  case unreadable
  /// The file became shorter while it was read.
  case changed

  /// The stable code, for frontends with messages of their own.
  var code: String {
    switch self {
    case .unreachable: "source.unreachable"
    case .timeout: "source.timeout"
    case .status: "source.status"
    case .redirected: "source.redirected"
    case .tooLarge: "source.tooLarge"
    case .busy: "source.busy"
    case .interrupted: "source.interrupted"
    case .notText: "source.notText"
    case .notJSON: "source.notJSON"
    case .invalidBalance: "source.notABalance"
    case .missing: "source.missing"
    case .notAFile: "source.notAFile"
    case .unreadable: "source.unreadable"
    case .changed: "source.changed"
    }
  }

  /// The failure as an English sentence for users, without a full stop.
  var message: String {
    switch self {
    case .unreachable: "The source cannot be reached"
    case .timeout: "The source did not respond in time"
    case .status(let status): "The source responded with status \(status)"
    case .redirected: "The source redirects to another server or too often"
    case .tooLarge(let maximumBytes): "The source has more than \(maximumBytes) bytes"
    case .busy: "Too many bytes are being loaded at the moment"
    case .interrupted: "The source could not be read to its end"
    case .notText: "The source is not UTF-8 text"
    case .notJSON: "The source is not valid JSON"
    case .invalidBalance: "The response of the source is not a balance"
    case .missing: "The source does not exist"
    case .notAFile: "The source is not a regular file"
    case .unreadable: "The source cannot be read"
    case .changed: "The source changed while it was read"
    }
  }
}
