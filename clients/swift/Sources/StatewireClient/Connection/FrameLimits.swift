// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON
internal import StatewireProtocol

/// The size of a frame, as the server's limits measure it.
struct FrameSize {
  /// Without the line end.
  var bytes: Int
  /// How deep arrays and objects nest, the message being the first level.
  var nesting: Int

  /// Measures JSON that this client has written.
  init(of json: UnsafeRawBufferPointer) {
    bytes = json.count
    var (depth, deepest, isInString) = (0, 0, false)
    var index = 0
    while index < json.count {
      switch json[index] {
      case UInt8(ascii: "\""): isInString.toggle()
      case UInt8(ascii: "\\"): index += 1
      case UInt8(ascii: "["), UInt8(ascii: "{"):
        if !isInString {
          depth += 1
          deepest = max(deepest, depth)
        }
      case UInt8(ascii: "]"), UInt8(ascii: "}"):
        if !isInString { depth -= 1 }
      default: break
      }
      index += 1
    }
    nesting = deepest
  }
}

extension Initialize.Limits {
  /// The error that the server would give for a frame; nil if it accepts one of this size.
  func refusal(of size: FrameSize) -> RPCError? {
    if size.bytes > frameBytes {
      return .frame(.frameBytes, "a message has at most \(frameBytes) bytes")
    }
    if size.nesting > nesting {
      return .frame(.nesting, "a message nests at most \(nesting) deep")
    }
    return nil
  }
}

extension RPCError {
  fileprivate static func frame(_ limit: LimitName, _ message: String) -> RPCError {
    RPCError(.limit, message, data: ["limit": .string(limit.rawValue)])
  }

  /// Which request an error whose id is null ends.
  enum Extent {
    /// The open one with the longest frame: it exceeded the limit, if any did.
    case longest
    /// The open one that nests deepest.
    case deepest
    /// One that the server could not read, and has not answered therefore.
    case unread
    /// None: the error is about the connection.
    case none
  }

  /// - Source: clients/CONFORMANCE.md, "Refused frames".
  var extent: Extent {
    switch (code, limit) {
    case (.limit, LimitName.frameBytes.rawValue): .longest
    case (.limit, LimitName.nesting.rawValue): .deepest
    case (.parseError, _), (.invalidRequest, _): .unread
    default: .none
    }
  }
}
