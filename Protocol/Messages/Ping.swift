// SPDX-License-Identifier: Apache-2.0

/// Responds `{}` once all earlier requests of the connection have been started.
public enum Ping {
  /// The name of the method.
  public static let method: StaticString = "ping"

  /// The description for `rpc.discover`.
  public static var description: MethodDescription {
    MethodDescription(
      method, "Responds once all earlier requests of the connection have been started.")
  }
}
