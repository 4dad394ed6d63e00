// SPDX-License-Identifier: Apache-2.0

internal import ClientTransports
internal import StatewireJSON

/// A running server whose description a command reads.
struct DescribedServer: Sendable {
  let address: ServerAddress
  let trust: ClientTrust
  /// The token; nil without one.
  let token: String?

  /// The maximum time until the server has responded.
  private static let patience = Duration.seconds(30)

  /// Returns the result of `rpc.discover`.
  ///
  /// - Throws: `StartupError` if there is no connection, or the server does not describe itself.
  func description() async throws -> JSONValue {
    let connection: ClientConnection
    do {
      connection = try await ClientConnection.connect(to: address, trust: trust)
    } catch let error as CancellationError {
      throw error
    } catch {
      throw StartupError("\(error)", cause: error)
    }
    let tooLong = StartupError(
      "\(address) did not respond to rpc.discover within \(Self.patience)")
    let description = try await withTimeLimit(Self.patience, tooLong) { try await ask(connection) }
    await connection.close()
    return description
  }

  private func ask(_ connection: ClientConnection) async throws -> JSONValue {
    if let token {
      _ = try await request(connection, 1, "initialize", ["token": .string(token)])
    }
    return try await request(connection, 2, "rpc.discover", [:])
  }

  private func request(
    _ connection: ClientConnection, _ id: Int, _ method: String, _ params: JSONValue
  ) async throws -> JSONValue {
    do {
      let request: JSONValue = [
        "jsonrpc": "2.0", "id": .number(JSONNumber(id)), "method": .string(method),
        "params": params,
      ]
      try await connection.send(request.bytes)
      while let message = try await connection.receive() {
        let response = try JSONValue(parsing: message, limits: JSONLimits(maximumDepth: 1024))
        if let error = response["error"], response["id"]?.int ?? id == id {
          let text = error["message"]?.string ?? error.description
          let remedy = error["code"]?.int == -32016 ? "; pass --token-file" : ""
          throw StartupError("\(address) refuses \(method): \(text)\(remedy)")
        }
        if let result = response["result"], response["id"]?.int == id { return result }
      }
    } catch let error as StartupError {
      throw error
    } catch is CancellationError {
      throw CancellationError()
    } catch {
      throw StartupError("cannot query \(address): \(error)", cause: error)
    }
    throw StartupError("\(address) closed the connection before it responded to rpc.discover")
  }
}
