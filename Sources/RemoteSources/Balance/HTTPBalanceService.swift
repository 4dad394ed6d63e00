// SPDX-License-Identifier: Apache-2.0

public import BuiltinStores

/// Asks a URL of the operator's for the balance.
///
/// - Shape: `GET`; the answer is `{"balance": number|string, "date": "yyyy-MM-dd HH:mm:ss Z"}`
///   whatever its `Content-Type`, of at most 64 KiB.
/// - Failure: any status but 200, an answer that is none, redirects to another server, or nothing
///   in time. Why is for the operator's log; the amount never is.
/// - Cancellation: closes the connection at once.
public struct HTTPBalanceService: BalanceService {
  /// How many bytes an answer may have: 64 KiB.
  public static let maximumBytes = 64 << 10

  private let fetch: HTTPFetch

  /// - Parameters:
  ///   - address: What is asked.
  ///   - client: What asks.
  ///   - timeout: Of real time, from the request to the last byte of the answer.
  public init(_ address: HTTPAddress, client: RemoteClient, timeout: Duration = .seconds(30)) {
    RemoteClient.beginThreads()
    fetch = HTTPFetch(
      address: address, client: client, maximumBytes: Self.maximumBytes, timeout: timeout)
  }

  public func balance() -> Effect<BalanceResult> {
    // Once cancelled, what is sent is dropped.
    .run("balance") { context in await context.send(await answer()) }
  }

  /// What the server says; `failed` also when cancelled.
  @concurrent
  func answer() async -> BalanceResult {
    guard let content = try? await fetch.run() else { return .failed }
    guard let response = try? BalanceReply(content.bytes).response else {
      fetch.client.tell(.notABalance, from: fetch.address)
      return .failed
    }
    return .response(response)
  }
}
