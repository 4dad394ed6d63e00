// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol

extension TodoTitle: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) {
    do { try self.init(text) } catch { fatalError(error.rawValue) }
  }
}
