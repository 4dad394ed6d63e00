// SPDX-License-Identifier: Apache-2.0

public import ClientTransports
internal import Foundation
internal import TestSupport
internal import Testing
public import Transports

/// New certificates of a server, of clients, and of two authorities, created by the script.
public struct TestCertificates: Sendable {
  private let files: TestFolder

  public init() throws {
    files = try TestFolder()
    let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Scripts/make-certificates")
    let process = try Process.run(script, arguments: [files.path])
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
  }

  /// Returns the path of a file.
  public func file(_ name: String) -> String { files.file(name) }

  /// The certificate of the server.
  public func server(clientAuthority: String? = nil) throws -> ServerCertificate {
    try ServerCertificate(
      certificate: file("server.pem"), key: file("server.key"),
      clientAuthority: clientAuthority.map(file))
  }

  /// The trust of a client, with a certificate of its own if one is named.
  public func trust(_ authority: String = "ca.pem", client: String? = nil) -> ClientTrust {
    var trust = ClientTrust()
    trust.authority = file(authority)
    if let client {
      trust.certificate = file(client + ".pem")
      trust.key = file(client + ".key")
    }
    return trust
  }
}
