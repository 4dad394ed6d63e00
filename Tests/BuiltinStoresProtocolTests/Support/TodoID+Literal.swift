// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol

extension TodoID: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) {
    do { try self.init(text) } catch { preconditionFailure("invalid todo id: \(text)") }
  }
}
