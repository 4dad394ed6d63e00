// SPDX-License-Identifier: Apache-2.0

public import ClientTransports
import Foundation
public import StatewireJSON

/// A run of `statewire record`: relays between clients and a server, and records.
public struct RecordingRun: Sendable {
  /// The two sides of the relay.
  public enum Relayed: Sendable {
    /// Clients that connect to `listener`, and a running server.
    case sockets(listener: ServerAddress, server: ServerAddress, ClientTrust)
    /// The standard streams of this process, and a program that is started.
    case command([String])
  }

  private let relayed: Relayed
  private let output: String
  private var secrets: ServerSecrets
  private let description: JSONValue?
  private let token: String?
  private let report: @Sendable (String) -> Void

  /// The time that the server has to describe itself.
  private static let patience = Duration.seconds(5)

  /// Creates a run.
  ///
  /// - Parameters:
  ///   - relayed: The two sides.
  ///   - output: The path of the file; `{process}` in it is the number of this process.
  ///   - secrets: The rules for values to redact, without the description of the server.
  ///   - description: The description of the server; nil to ask the server.
  ///   - token: The token for asking the server; nil for none.
  ///   - report: Takes lines for the operator.
  public init(
    _ relayed: Relayed, output: String, secrets: ServerSecrets, description: JSONValue? = nil,
    token: String? = nil, report: @escaping @Sendable (String) -> Void
  ) {
    self.relayed = relayed
    self.output = output
    self.secrets = secrets
    self.description = description
    self.token = token
    self.report = report
  }

  /// Relays and records until the program has ended or the task is cancelled.
  ///
  /// - Returns: The exit code of the program; 0 if there is none.
  /// - Throws: `ClientError`, or a fault of the file.
  public func run() async throws -> Int32 {
    let secrets = await describedSecrets()
    if !secrets.isDescribed {
      report(
        "the server does not describe its secrets, so the values of its stores are redacted; "
          + "pass --description or --keep-undescribed")
    }
    let path = output.replacing("{process}", with: "\(getpid())")
    switch relayed {
    case .sockets(let listener, let server, let trust):
      let tap = try tap(ConversationRecorder(secrets: secrets), path, [])
      let relay = SocketRelay(to: server, trust: trust, tap: tap)
      try await relay.run(at: listener) { report("recording clients that connect to \($0)") }
      return 0
    case .command(let command):
      let recorder = ConversationRecorder(secrets: secrets, isSingle: true)
      let options = command.contains("--test") ? ["--test"] : []
      return try await StandardRelay(to: command, tap: try tap(recorder, path, options)).run()
    }
  }

  private func tap(
    _ recorder: ConversationRecorder, _ path: String, _ options: [String]
  ) throws -> RecordingTap {
    do throws(FileFault) {
      return try RecordingTap(
        recorder, path: path, heading: recorder.heading(server: options), report: report)
    } catch {
      throw FileFault(description: "\(path.printable) cannot be written: \(error)")
    }
  }

  private func describedSecrets() async -> ServerSecrets {
    var secrets = secrets
    if let description {
      secrets.learn(from: description, isComplete: false)
      return secrets
    }
    switch relayed {
    case .sockets(_, let server, let trust):
      let document = await ServerDescriptionRequest.document(
        from: server, trust, token: token, patience: Self.patience)
      if let document { secrets.learn(from: document, isComplete: true) }
    case .command(let command):
      let document = await ServerDescriptionRequest.document(
        ofProgram: command, patience: Self.patience)
      if let document { secrets.learn(from: document, isComplete: false) }
    }
    return secrets
  }
}
