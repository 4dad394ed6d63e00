// SPDX-License-Identifier: Apache-2.0

/// What one session may use.
public struct SessionLimits: Sendable {
  /// Names of stores, closed ones included.
  public var storesPerSession = 1024
  /// - Units: UTF-8 bytes.
  public var storeNameBytes = 256

  public init() {}
}
