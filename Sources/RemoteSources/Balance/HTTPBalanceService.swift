// SPDX-License-Identifier: Apache-2.0

public import BuiltinStores

/// A balance service that requests a URL of the operator.
///
/// - Shape: `GET`; the response is `{"balance": number|string, "date": "yyyy-MM-dd HH:mm:ss Z"}`,
///   with any `Content-Type` and at most 64 KiB.
/// - Failure: a status other than 200, a body of another shape, a redirect to another server, or no
///   response in time. The reason is written to the operator's log; the amount never is.
/// - Cancellation: closes the connection immediately.
public struct HTTPBalanceService: BalanceService {
  /// The largest size of a response: 64 KiB.
  public static let maximumBytes = 64 << 10

  private let fetch: HTTPFetch

  /// - Parameters:
  ///   - address: The URL to request.
  ///   - client: The HTTP client.
  ///   - timeout: Real time from the request to the last byte of the response.
  public init(_ address: HTTPAddress, client: RemoteClient, timeout: Duration = .seconds(30)) {
    RemoteClient.startThreads()
    fetch = HTTPFetch(
      address: address, client: client, maximumBytes: Self.maximumBytes, timeout: timeout)
  }

  /// Returns an effect that requests the balance and sends the response or `failed`.
  public func balance() -> Effect<BalanceResult> {
    // After a cancellation, sent actions are dropped.
    .run("balance") { context in await context.send(await fetchBalance()) }
  }

  /// Requests the balance; `failed` also when cancelled.
  @concurrent
  func fetchBalance() async -> BalanceResult {
    guard let content = try? await fetch.run() else { return .failed }
    guard let response = try? BalanceReply(content.bytes).response else {
      fetch.client.log(.invalidBalance, from: fetch.address)
      return .failed
    }
    return .response(response)
  }
}
