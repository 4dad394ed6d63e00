// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Transports

/// Who is served, and how the way to them is secured.
struct SecurityOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Serve only who shows a token of this file; SIGHUP reads it again.",
      discussion: "One token a line: a name, a blank, and 16 to 512 visible characters.",
      valueName: "file"))
  var tokenFile: String?

  @Option(
    help: ArgumentHelp(
      "Serve TCP over TLS with this certificate, in PEM; SIGHUP reads it again.",
      valueName: "file"))
  var tlsCert: String?

  @Option(help: ArgumentHelp("The key of the certificate, in PEM.", valueName: "file"))
  var tlsKey: String?

  @Option(
    help: ArgumentHelp(
      "Serve over TLS only who has a certificate that one of these has signed, in PEM.",
      valueName: "file"))
  var tlsClientCa: String?

  @Option(
    help: ArgumentHelp(
      "A site whose pages may use --web beside the server's own; repeatable.",
      discussion: """
        Like https://example.org. Its host is also a name of this server where that is reached by a \
        loopback address, as behind a proxy.
        """,
      valueName: "origin"))
  var webOrigin: [String] = []

  @Flag(
    help: "Allow TCP beyond loopback without tokens or TLS: whoever reaches the port is served.")
  var insecure = false

  /// The files of the certificate; nil where there is to be no TLS.
  struct CertificateFiles {
    var certificate: String
    var key: String
    var clientAuthority: String?
  }

  /// - Throws: `StartupError` if one of the files is missing.
  func certificateFiles() throws(StartupError) -> CertificateFiles? {
    switch (tlsCert, tlsKey) {
    case (let certificate?, let key?):
      return CertificateFiles(certificate: certificate, key: key, clientAuthority: tlsClientCa)
    case (nil, nil):
      if tlsClientCa != nil {
        throw StartupError("--tls-client-ca wants --tls-cert and --tls-key beside it")
      }
      return nil
    case (nil, _): throw StartupError("--tls-key wants --tls-cert beside it")
    case (_, nil): throw StartupError("--tls-cert wants --tls-key beside it")
    }
  }

  /// Refuses to be reached by everybody unless that is asked for.
  /// - Throws: `StartupError` that says what is missing.
  func check(_ listeners: [Listener]) throws(StartupError) {
    if try certificateFiles() != nil, listeners.isEmpty {
      throw StartupError("TLS is for TCP: give --tcp or --web as well")
    }
    guard !insecure, let open = listeners.first(where: { !$0.isLoopback }) else { return }
    var missing: [(what: String, options: String)] = []
    if tokenFile == nil { missing.append(("without a token", "--token-file")) }
    if tlsCert == nil { missing.append(("without encryption", "--tls-cert and --tls-key")) }
    guard !missing.isEmpty else { return }
    throw StartupError(
      "\(open.address) can be reached from beyond this machine, "
        + missing.map(\.what).joined(separator: " and ") + ": give "
        + missing.map(\.options).joined(separator: ", ")
        + ", or listen on 127.0.0.1 or [::1], or give --insecure")
  }
}
