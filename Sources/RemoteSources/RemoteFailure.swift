// SPDX-License-Identifier: Apache-2.0

/// Why nothing came of asking a source or a service.
///
/// The catalogue of what this module says to people who look at a frontend: one sentence and a
/// stable code each. A frontend's users are told neither where a source is nor what it holds.
enum RemoteFailure: Error, Equatable, Sendable {
  /// No connection came about, or it ended before the answer began.
  case unreachable
  /// Connecting, waiting for more or the whole request took too long.
  case timeout
  /// The answer has a status other than 200, and none that is followed.
  case status(UInt)
  /// The answer leads to another server, nowhere, or on and on.
  case redirected
  /// There is more than the operator allows.
  case tooLarge(maximumBytes: Int)
  /// The loads that are going on have read as many bytes together as they may.
  case busy
  /// The connection ended, or reading failed, before all was there.
  case interrupted
  case notText
  case notJSON
  /// The answer of a balance service is none.
  case notABalance
  /// No file has that name.
  case missing
  /// A link, a folder, a pipe or a device has that name.
  case notAFile
  /// The file may not be opened or cannot be read.
  case unreadable
  /// The file became shorter while it was read.
  case changed

  /// What frontends with words of their own go by.
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
    case .notABalance: "source.notABalance"
    case .missing: "source.missing"
    case .notAFile: "source.notAFile"
    case .unreadable: "source.unreadable"
    case .changed: "source.changed"
    }
  }

  var message: String {
    switch self {
    case .unreachable: "The source cannot be reached"
    case .timeout: "The source did not answer in time"
    case .status(let status): "The source answered with status \(status)"
    case .redirected: "The source redirects to where it is not followed"
    case .tooLarge(let maximumBytes): "The source has more than \(maximumBytes) bytes"
    case .busy: "Too much is being loaded at the moment"
    case .interrupted: "The connection to the source broke off"
    case .notText: "The source is not UTF-8 text"
    case .notJSON: "The source is not valid JSON"
    case .notABalance: "The source does not tell a balance"
    case .missing: "The source is not there"
    case .notAFile: "The source is not a regular file"
    case .unreadable: "The source cannot be read"
    case .changed: "The source changed while it was read"
    }
  }
}
