// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON
public import StatewireProtocol

extension RPCError {
  /// Creates the error for invalid parameters: `-32602`, or a limit error.
  ///
  /// - Parameter error: An error whose path starts at the parameters.
  public init(invalidParams error: JSONError) {
    var data: JSONObject = ["path": .string(error.pathDescription)]
    // A limit error contains the path as well.
    if error.code.isLimit { data["limit"] = .string(error.code.rawValue) }
    self.init(error.code.isLimit ? .limit : .invalidParams, error.message, data: .object(data))
  }

  /// Creates the error for a frame that is not JSON, or that nests too deep.
  public init(notJSON error: JSONError) {
    // The reader stops at that depth, so it is unknown whether the frame is JSON.
    if error.code == .depth {
      self.init(limit: .nesting, error.message)
      return
    }
    var error = error
    // The path in a hostile frame can be as long as the frame.
    if error.pathDescription.utf8.count > 256 { error.path = [] }
    self.init(.parseError, error.description)
  }

  /// Creates the error for a limit that was exceeded; `data.limit` is its name.
  public init(limit: LimitName, _ message: String) {
    self.init(.limit, message, data: .object(["limit": .string(limit.rawValue)]))
  }
}
