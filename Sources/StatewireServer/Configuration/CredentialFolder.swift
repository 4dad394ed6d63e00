// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The folder in which systemd gives a service its credentials.
///
/// - Source: systemd.exec(5), `LoadCredential=`; systemd.io/CREDENTIALS.
struct CredentialFolder: Sendable {
  static let variable = "CREDENTIALS_DIRECTORY"
  private static let prefix = "credential:"

  private let folder: String?

  /// The reason why a credential cannot be used.
  struct Fault: Error { let reason: String }

  /// Creates the folder of this process, or of a given environment.
  init(_ environment: [String: String]? = nil) {
    let value =
      if let environment { environment[Self.variable] } else {
        getenv(Self.variable).map { String(cString: $0) }
      }
    folder = value.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Returns the path of a file: the value itself, or, for `credential:NAME`, that of the credential.
  func path(_ value: String) throws(Fault) -> String {
    guard value.hasPrefix(Self.prefix) else { return value }
    let name = value.dropFirst(Self.prefix.count)
    guard !name.isEmpty, !name.contains("/"), name != ".", name != ".." else {
      throw Fault(reason: "a credential is credential:NAME, and NAME has no slash")
    }
    guard let folder else {
      throw Fault(
        reason:
          "\(Self.variable) is not set, so there is no credential; start the server as a service with "
          + "LoadCredential=\(name):PATH, or pass the path")
    }
    return "\(folder)/\(name)"
  }

  /// True for the path of a credential. Its folder protects it, and its permissions may include a group:
  /// systemd gives the user of the service access by an access control list.
  func contains(_ path: String) -> Bool { folder.map { path.hasPrefix($0 + "/") } ?? false }
}
