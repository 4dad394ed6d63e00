// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON
public import StatewireProtocol

extension RPCError {
  /// The parameters are not those of the method.
  /// - Parameter error: Its path leads into the parameters.
  public init(invalidParams error: JSONError) {
    var data: JSONObject = ["path": .string(error.pathDescription)]
    // A limit says where as well.
    if error.code.isLimit { data["limit"] = .string(error.code.rawValue) }
    self.init(error.code.isLimit ? .limit : .invalidParams, error.message, data: .object(data))
  }

  /// The frame is not JSON.
  public init(notJSON error: JSONError) {
    // The reader stops there, so the rest may be JSON or not.
    if error.code == .depth {
      self.init(limit: .nesting, error.message)
      return
    }
    var error = error
    // The path into a hostile frame can be as long as the frame.
    if error.pathDescription.utf8.count > 256 { error.path = [] }
    self.init(.parseError, error.description)
  }

  /// A limit was exceeded.
  public init(limit: LimitName, _ message: String) {
    self.init(.limit, message, data: .object(["limit": .string(limit.rawValue)]))
  }
}
