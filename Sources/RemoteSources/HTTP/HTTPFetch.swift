// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import NIOCore

/// One `GET`, from the request to the last byte of the answer.
struct HTTPFetch: Sendable {
  let address: HTTPAddress
  let client: RemoteClient
  let maximumBytes: Int
  /// Where the bytes of an answer find room; nil for short ones.
  var room: LoadingRoom?
  /// Of real time, for all of it; nil: as long as bytes keep coming.
  let timeout: Duration?

  /// How often an answer may send us on.
  static let maximumRedirects = 5

  /// What a server answered.
  struct Content: Sendable {
    /// As the server has it, parameters included.
    var type: String?
    var bytes: [UInt8]
  }

  /// Asks, follows redirects on the same server, and reads the answer.
  ///
  /// Cancelling it closes the connection at once.
  ///
  /// - Parameter progress: Told how many bytes are there and how many there will be, if that is
  ///   known: first with no byte there, then after each part. No more is read meanwhile.
  /// - Throws: `RemoteFailure`, of which the operator has been told; `CancellationError`.
  func run(
    _ progress: @escaping @Sendable (_ count: Int, _ total: Int?) async -> Void = { _, _ in }
  ) async throws -> Content {
    do {
      return try await within(timeout) { try await fetch(progress) }
    } catch {
      if Task.isCancelled { throw CancellationError() }
      let (failure, cause) = RemoteFailure.of(error)
      client.tell(failure, from: address, because: cause)
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

  /// The value of a `Content-Length`.
  ///
  /// - Source: RFC 9110 §8.6 (digits, without a sign).
  static func length(_ text: String) -> Int? {
    text.utf8.allSatisfy(\.isDigit) ? Int(text) : nil
  }

  /// Reads the body; leaving it early closes the connection.
  private func read(
    _ response: HTTPClientResponse,
    _ progress: @Sendable (_ count: Int, _ total: Int?) async -> Void
  ) async throws -> Content {
    let total = response.headers.first(name: "Content-Length").flatMap { Self.length($0) }
    guard total ?? 0 <= maximumBytes else {
      throw RemoteFailure.tooLarge(maximumBytes: maximumBytes)
    }
    var bytes: [UInt8] = []
    let share = room?.share()
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
