// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
internal import Glibc
internal import Transports

/// The command `health` of a program: asks the admin interface of a server.
///
/// Containers and supervisors run it, where no other HTTP client exists.
public struct HealthCommand<Program: ServerProgram>: ParsableCommand {
  /// The name and the help of the command.
  public static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "health",
      abstract: "Asks a server with --admin whether its event loops respond.",
      discussion: "Prints the response, and ends with 0 if it is yes, otherwise with 1.")
  }

  @Argument(help: "The address of --admin, HOST:PORT.")
  var address = "127.0.0.1:7229"

  @Flag(help: "Ask whether the server is ready for clients.")
  var ready = false

  /// Creates the command with its defaults.
  public init() {}

  /// Asks the server.
  ///
  /// - Throws: `StartupError` if there is no response; `ExitCode.failure` if it is no.
  public func run() throws {
    guard let address = ListenerAddress(address) else {
      throw StartupError("the address must be HOST:PORT, for example 127.0.0.1:7229")
    }
    let response = try HealthRequest(address).send(path: ready ? "/readyz" : "/healthz")
    Output.show(response.line)
    if !response.isGood { throw ExitCode.failure }
  }
}

/// A request to the admin interface of a server. It waits at most five seconds.
struct HealthRequest {
  /// A response.
  struct Response: Equatable {
    /// True for the status 200.
    let isGood: Bool
    /// The first line of the body.
    let line: String
  }

  private let address: ListenerAddress

  init(_ address: ListenerAddress) { self.address = address }

  /// - Throws: `StartupError` with the reason why there is no response.
  func send(path: String) throws(StartupError) -> Response {
    let descriptor = try connected()
    defer { close(descriptor) }
    var request = Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
    guard Glibc.send(descriptor, &request, request.count, CInt(MSG_NOSIGNAL)) > 0 else {
      throw failure(errno)
    }
    var (received, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
    // The interface closes the connection after one short response.
    while received.count < 65536 {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count >= 0 else { throw failure(errno) }
      if count == 0 { break }
      received += buffer[..<count]
    }
    let text = String(decoding: received, as: UTF8.self)
    guard text.hasPrefix("HTTP/1."), let body = text.firstRange(of: "\r\n\r\n") else {
      throw StartupError("the server at \(name) does not respond as --admin does")
    }
    return Response(
      isGood: text.dropFirst("HTTP/1.1".count).hasPrefix(" 200 "),
      line: String(text[body.upperBound...].prefix { !$0.isNewline }))
  }

  private func connected() throws(StartupError) -> CInt {
    var (hints, found) = (addrinfo(), UnsafeMutablePointer<addrinfo>?.none)
    hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
    guard getaddrinfo(address.host, "\(address.port)", &hints, &found) == 0 else {
      throw StartupError("the name \(address.host) is not known")
    }
    defer { freeaddrinfo(found) }
    var (next, lastError) = (found, ECONNREFUSED)
    while let candidate = next?.pointee {
      next = candidate.ai_next
      let kind = candidate.ai_socktype | CInt(SOCK_CLOEXEC.rawValue)
      let descriptor = socket(candidate.ai_family, kind, 0)
      guard descriptor >= 0 else { throw failure(errno) }
      var limit = timeval(tv_sec: 5, tv_usec: 0)
      for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
        setsockopt(
          descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
      }
      if connect(descriptor, candidate.ai_addr, candidate.ai_addrlen) == 0 { return descriptor }
      lastError = errno
      close(descriptor)
    }
    throw failure(lastError)
  }

  private var name: String { "\(address.tcp(isSecured: false))" }

  private func failure(_ number: CInt) -> StartupError {
    StartupError("no response from the server at \(name): \(systemMessage(number))")
  }
}
