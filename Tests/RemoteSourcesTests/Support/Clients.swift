// SPDX-License-Identifier: Apache-2.0

import RemoteSources

/// Calls `body` with a client that is shut down behind it.
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
  /// One that does not take a machine that is busy with other tests for a server that is late.
  static var patient: RemoteClient {
    RemoteClient(connectTimeout: .seconds(300), idleTimeout: .seconds(300))
  }
}
