// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import NIOCore

/// One `GET`, from the request to the last byte of the response.
struct HTTPFetch: Sendable {
  let address: HTTPAddress
  let client: RemoteClient
  let maximumBytes: Int
  /// The limit of bytes that several loads share; nil for short responses.
  var quota: LoadingQuota?
  /// Real time for the whole fetch; nil for no limit while bytes arrive.
  let timeout: Duration?

  /// The largest number of redirects that are followed.
  static let maximumRedirects = 5

  /// The content of a response.
  struct Content: Sendable {
    /// The `Content-Type` with its parameters; nil if there is none.
    var type: String?
    var bytes: [UInt8]
  }

  /// Sends the request, follows redirects on the same server, and reads the response.
  ///
  /// Cancellation closes the connection immediately.
  ///
  /// - Parameter progress: Called with the number of bytes that have arrived and the total, if it
  ///   is known: first with 0 bytes, then after each part. Reading continues when it returns.
  /// - Throws: `RemoteFailure`, which was logged; `CancellationError`.
  func run(
    _ progress: @escaping @Sendable (_ count: Int, _ total: Int?) async -> Void = { _, _ in }
  ) async throws -> Content {
    do {
      return try await within(timeout) { try await fetch(progress) }
    } catch {
      if Task.isCancelled { throw CancellationError() }
      let (failure, cause) = RemoteFailure.of(error)
      client.log(failure, from: address, cause: cause)
      throw failure
    }
  }

  private func fetch(
    _ progress: @Sendable (_ count: Int, _ total: Int?) async -> Void
  ) async throws -> Content {
    var address = address
    for _ in 0...Self.maximumRedirects {
      let response = try await client.get(address)
      switch response.status.code {
      case 200:
        return try await read(response, progress)
      case 301, 302, 303, 307, 308:
        guard let location = response.headers.first(name: "Location"),
          let next = address.redirected(to: location)
        else { throw RemoteFailure.redirected }
        address = next
      case let status:
        throw RemoteFailure.status(status)
      }
    }
    throw RemoteFailure.redirected
  }

  /// Parses the value of a `Content-Length`.
  ///
  /// - Source: RFC 9110 §8.6 (digits, without a sign).
  static func length(_ text: String) -> Int? {
    text.utf8.allSatisfy(\.isDigit) ? Int(text) : nil
  }

  /// Reads the body. An early return closes the connection.
  private func read(
    _ response: HTTPClientResponse,
    _ progress: @Sendable (_ count: Int, _ total: Int?) async -> Void
  ) async throws -> Content {
    let total = response.headers.first(name: "Content-Length").flatMap { Self.length($0) }
    guard total ?? 0 <= maximumBytes else {
      throw RemoteFailure.tooLarge(maximumBytes: maximumBytes)
    }
    var bytes: [UInt8] = []
    let share = quota?.share()
    await progress(0, total)
    for try await part in response.body {
      guard part.readableBytes <= maximumBytes - bytes.count else {
        throw RemoteFailure.tooLarge(maximumBytes: maximumBytes)
      }
      try share?.take(part.readableBytes)
      bytes.append(contentsOf: part.readableBytesView)
      await progress(bytes.count, total)
      try Task.checkCancellation()
    }
    return Content(type: response.headers.first(name: "Content-Type"), bytes: bytes)
  }
}
