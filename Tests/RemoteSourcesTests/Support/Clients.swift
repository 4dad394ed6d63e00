// SPDX-License-Identifier: Apache-2.0

import RemoteSources

/// Calls `body` with a client and then shuts the client down.
func withClient<Result>(
  _ client: RemoteClient = .patient, _ body: (RemoteClient) async throws -> Result
) async throws -> Result {
  do {
    let result = try await body(client)
    await client.shutdown()
    return result
  } catch {
    await client.shutdown()
    throw error
  }
}

extension RemoteClient {
  /// A client with long timeouts, so that a server on a busy machine is not taken for a silent one.
  static var patient: RemoteClient {
    RemoteClient(connectTimeout: .seconds(300), idleTimeout: .seconds(300))
  }
}
