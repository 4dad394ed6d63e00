// SPDX-License-Identifier: Apache-2.0

public import ServerCore

extension ServerSettings {
  /// Settings without time limits, for busy machines.
  public static let patient = {
    var limits = ServerLimits()
    limits.timeToFirstRequest = nil
    limits.frameTime = nil
    limits.unreadTime = nil
    return ServerSettings(limits: limits)
  }()
}
