// SPDX-License-Identifier: Apache-2.0

import RemoteSources

/// Calls `body` with a client that is shut down behind it.
func withClient<Result>(
  _ client: RemoteClient = RemoteClient(), _ body: (RemoteClient) async throws -> Result
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
