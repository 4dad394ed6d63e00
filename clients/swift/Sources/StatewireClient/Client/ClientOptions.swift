// SPDX-License-Identifier: Apache-2.0

public import StatewireProtocol

/// How a client behaves.
public struct ClientOptions: Sendable {
  /// The handle of a session to attach to; nil: a session is opened.
  public var session: String?
  /// The name of this frontend in the session; a connection that comes under the same name takes its
  /// place. Nil: a name that nobody else has.
  public var frontend: String?
  /// An observer sees all and sends nothing.
  public var role = FrontendRole.driver
  /// What is shown to a server that asks for a token.
  public var token: Initialize.Token?
  /// What this program is called, for the server's logs.
  public var name = "statewire-swift"
  /// How long an answer may take, unless effects are waited for.
  public var timeout = Duration.seconds(30)
  /// How long to wait before connecting again.
  public var backoff = Backoff()
  /// Whether to go on where the first connection fails, too.
  public var isPatient = false
  /// How long the server may be silent before it is asked whether it is there.
  public var pingEvery = Duration.seconds(20)
  /// How often the states of stores that have changed are compared with the server's; a check
  /// transfers the whole state. Nil: never.
  public var checkEvery: Duration? = .seconds(60)
  /// How many inputs may wait for their answers.
  public var maximumWaiting = 1024
  /// The longest message that is taken from the server.
  public var maximumMessageBytes = 64 << 20

  public init() {}
}
