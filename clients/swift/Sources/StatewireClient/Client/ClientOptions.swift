// SPDX-License-Identifier: Apache-2.0

public import StatewireProtocol

/// The options of a client. The client copies them when it is created.
public struct ClientOptions: Sendable {
  /// The handle of a session to attach to; nil opens a session.
  public var session: String?
  /// The name of this frontend in the session. A connection that attaches with the same name evicts
  /// this client. Nil chooses a random name.
  public var frontend: String?
  /// A driver sends inputs. An observer only subscribes.
  public var role = FrontendRole.driver
  /// The token for a server that requires one.
  public var token: Initialize.Token?
  /// The name of this program in the server's logs.
  public var name = "statewire-swift"
  /// The maximum time for a response, unless it waits for effects (`settle`).
  public var timeout = Duration.seconds(30)
  /// The delays before the client connects again.
  public var backoff = Backoff()
  /// A Boolean value that indicates whether the client tries again when the first connection fails.
  public var retriesInitialConnection = false
  /// The time between checks for silence: the client sends `ping` if no message has arrived since
  /// the last.
  public var pingInterval = Duration.seconds(20)
  /// The time between comparisons of changed states with the server's. Each transfers the whole
  /// state. Nil disables them.
  public var verifyInterval: Duration? = .seconds(60)
  /// The number of inputs that may be without a response.
  public var maximumPending = 1024
  /// The maximum length of a message from the server, in bytes.
  public var maximumMessageBytes = 64 << 20

  /// Creates the default options: a new session and a driver with a random name.
  public init() {}
}
