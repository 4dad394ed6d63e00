// SPDX-License-Identifier: Apache-2.0

public import Sessions
internal import StatewireJSON

/// The settings of a node among others.
public struct NodeSettings: Sendable {
  /// The secret that all nodes have.
  let secret: NodeSecret
  /// The time for which a client waits until the node of its session can be reached, or has lost
  /// its lease.
  let patience: Duration

  /// Creates settings.
  ///
  /// - Parameters:
  ///   - secret: The secret that all nodes have.
  ///   - patience: The time for which a client waits for the node of its session; longer than the
  ///     lease of a node.
  public init(secret: NodeSecret, patience: Duration) {
    (self.secret, self.patience) = (secret, patience)
  }
}

/// The secret by which nodes recognise each other.
public struct NodeSecret: Sendable, CustomStringConvertible, CustomReflectable {
  /// The least length, in bytes.
  public static let minimumBytes = 16

  let bytes: [UInt8]

  /// Creates a secret; nil if it has fewer than 16 bytes, or other bytes than visible ASCII.
  public init?(_ text: some StringProtocol) {
    bytes = Array(text.utf8)
    guard bytes.count >= Self.minimumBytes, bytes.allSatisfy({ (0x21..<0x7F).contains($0) }) else {
      return nil
    }
  }

  /// Compares all bytes, so that the time reveals nothing but the length.
  func isSame(as text: String) -> Bool {
    let other = Array(text.utf8)
    var difference = bytes.count ^ other.count
    for index in bytes.indices {
      difference |= Int(bytes[index] ^ (index < other.count ? other[index] : 0))
    }
    return difference == 0
  }

  /// No secret.
  public var description: String { "a secret" }
  /// No members, so that no log prints the secret.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A request of a client to attach to a session of another node.
public struct NodeLinkRequest: Sendable {
  /// The number by which the connection of the client finds the request again.
  public let number: UInt32
  /// The node of the session.
  public let node: ClusterNode
  /// The first message to the node: `node/relay`, without framing. `Connection.linkGreeted` sends
  /// the client's request after the response to it.
  public let greeting: [UInt8]
}

/// A connection to the node that serves a client's session; on the loop of the client's connection.
///
/// It is an ordinary connection to a listener of that node, with framing by headers. Its first
/// message is `node/relay`, and after the response the second one is `node/attach`; then it carries
/// the client's messages, and those of the node. A message of the node that begins with another byte
/// than `{` or `[` is for this node (`NodeControl`).
public protocol NodeLink: AnyObject {
  /// Sends a message, after the turn.
  func send(_ message: UnsafeRawBufferPointer)

  /// True while additional messages would only wait; `Connection.linkIsWritable` follows.
  var isCongested: Bool { get }

  /// Ends the messages to the node, which then sends the remaining responses.
  func endInput()

  /// Reads again, if the connection wants more (`Connection.wantsLinkBytes`).
  func resumeReading()

  /// Closes the link immediately, without an event for the connection.
  func close()
}

/// A message from a node to the node that relays: one byte, and a text for some of them.
public enum NodeControl: UInt8, Sendable {
  /// The client has attached.
  case attached = 0x2B  // +
  /// The client could not attach; the error as JSON text follows.
  case refused = 0x2D  // -
  /// The session has moved to another node meanwhile.
  case moved = 0x7E  // ~
  /// The node ends, and the client should connect again.
  case ends = 0x21  // !
  /// The connection ends for another reason, for example because another client has evicted it.
  case closes = 0x2E  // .
}

/// The messages of a node that relays a client.
enum NodeRelay {
  static let method: StaticString = "node/relay"
  /// The notification with the client's request.
  static let attachMethod: StaticString = "node/attach"
  /// The notification of an error in the framing of the client's messages.
  static let faultMethod: StaticString = "node/fault"

  struct Params: Decodable {
    let secret: String
    /// The identity of the client; nil on servers without tokens.
    let identity: String?
    /// The inputs that the client may still send; nil if their rate is not limited.
    let inputs: Double?
  }

  /// The time for which the relaying node may wait for the response to `node/relay`, and the node of
  /// the session for the request after it, before the client may no longer evict another one. Both
  /// together are at most the time after which clients give a connection up.
  static let evictionTime = Duration.seconds(2)

  struct Attach: Decodable {
    /// The client's request, `session/attach`, as JSON text.
    let request: String
    /// False if the client may have gone, so that it must not evict another one.
    let evicts: Bool
  }

  /// Writes the message of a relaying node.
  static func greeting(
    _ secret: NodeSecret, identity: Identity?, inputs: Double?
  ) -> [UInt8] {
    var writer = JSONWriter()
    writer.raw("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"node/relay\",\"params\":{\"secret\":")
    writer.value(String(decoding: secret.bytes, as: UTF8.self))
    if let identity {
      writer.raw(",\"identity\":")
      writer.value(identity.name)
    }
    if let inputs {
      writer.raw(",\"inputs\":")
      writer.value(inputs)
    }
    writer.raw("}}")
    return writer.bytes()
  }

  /// Writes the notification with the client's request.
  static func attach(_ request: [UInt8], evicts: Bool) -> [UInt8] {
    var writer = JSONWriter()
    writer.raw("{\"jsonrpc\":\"2.0\",\"method\":\"node/attach\",\"params\":{\"evicts\":")
    writer.value(evicts)
    writer.raw(",\"request\":")
    writer.value(String(decoding: request, as: UTF8.self))
    writer.raw("}}")
    return writer.bytes()
  }

  struct Fault: Decodable {
    let code: Int
    let message: String
    let data: JSONValue?
  }
}
