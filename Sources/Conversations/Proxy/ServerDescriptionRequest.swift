// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Foundation
import StatewireJSON

/// A request for the description of a server, over a connection of its own.
enum ServerDescriptionRequest {
  /// Asks a running server.
  ///
  /// - Parameters:
  ///   - address: The address of the server, which may not listen yet.
  ///   - trust: The servers to accept over TLS.
  ///   - token: The token to authenticate with; nil for none.
  ///   - patience: The time for connecting, and for each response.
  /// - Returns: The document; nil if there is no result.
  static func document(
    from address: ServerAddress, _ trust: ClientTrust, token: String?, patience: Duration
  ) async -> JSONValue? {
    let deadline = ContinuousClock.now + patience
    var connection: ClientConnection?
    while connection == nil, ContinuousClock.now < deadline, !Task.isCancelled {
      connection = try? await ClientConnection.connect(to: address, trust: trust)
      if connection == nil { try? await Task.sleep(for: .milliseconds(50)) }
    }
    guard let connection else { return nil }
    let document = await result(within: patience) {
      () -> JSONValue? in
      if let token {
        let initialize: JSONValue = ["token": .string(token)]
        _ = try? await call("initialize", initialize, on: connection)
      }
      return try? await call("rpc.discover", [:], on: connection)
    }
    await connection.close(patience: .zero)
    return document
  }

  /// Asks a program by its command `schema`, if the command starts it with `serve`, as the programs
  /// of Statewire are started.
  ///
  /// The kinds that options replace are not in the document.
  ///
  /// - Parameters:
  ///   - command: The program and its arguments.
  ///   - environment: The environment, which can have options as well.
  ///   - patience: The time for the output.
  static func document(
    ofProgram command: [String],
    environment: [String: String] = ProcessInfo.processInfo.environment, patience: Duration
  ) async -> JSONValue? {
    guard command.count > 1, command[1] == "serve",
      let replaced = ReplacedKinds(command: command, environment: environment).names,
      let connection = try? await ClientConnection.spawn(
        [command[0], "schema"], errorOutput: .collected)
    else { return nil }
    let document = await result(within: patience) {
      () -> JSONValue? in
      try? await connection.closeInput()
      var text: [UInt8] = []
      while let lines = try? await connection.receiveAll() {
        for line in lines { text += line + [0x0A] }
      }
      return try? JSONValue(parsing: text)
    }
    await connection.close(patience: .zero)
    return document.map { $0.withoutKinds(replaced) }
  }

  private static func call(
    _ method: String, _ params: JSONValue, on connection: ClientConnection
  ) async throws -> JSONValue? {
    let request: JSONValue = [
      "jsonrpc": "2.0", "id": .string(method), "method": .string(method), "params": params,
    ]
    try await connection.send(request.bytes)
    while let message = try await connection.receive() {
      let response = try JSONValue(parsing: message)
      if response["id"] == .string(method) { return response["result"] }
    }
    return nil
  }
}
