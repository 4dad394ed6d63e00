// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON
internal import StatewireProtocol

/// The size of a frame, as measured by the limits of the server.
struct FrameSize {
  /// The length without the line end.
  var bytes: Int
  /// The nesting depth of arrays and objects; the message is the first level.
  var nesting: Int

  /// Measures JSON. It must be valid, as that of this client is.
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
  /// Returns the error that the server would return for a frame; nil if the frame is within the
  /// limits.
  func refusal(of size: FrameSize) -> RPCError? {
    if size.bytes > frameBytes {
      return .frame(.frameBytes, "the message has \(size.bytes) bytes, the limit is \(frameBytes)")
    }
    if size.nesting > nesting {
      return .frame(
        .nesting, "the message is nested \(size.nesting) levels deep, the limit is \(nesting)")
    }
    return nil
  }
}

extension RPCError {
  fileprivate static func frame(_ limit: LimitName, _ message: String) -> RPCError {
    RPCError(.limit, message, data: ["limit": .string(limit.rawValue)])
  }

  /// The request that an error with id null ends.
  enum Extent {
    /// The open request with the longest frame: if any request exceeded the limit, this one did.
    case longest
    /// The open request with the deepest nesting.
    case deepest
    /// A request that the server could not parse and has not responded to.
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
