// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The limit of the earlier states that a store keeps to compare their data with later states. Beyond
/// it only versions are compared, and a state that was restored counts as a change.
enum KeptStates {
  /// Returns true if one more state may be kept: the first one, or small ones.
  ///
  /// - Parameters:
  ///   - count: The number of states that are kept.
  ///   - state: The next one, whose size is that of the others, approximately.
  static func permit(_ count: Int, of state: JSONEncodedState) -> Bool {
    count == 0 || (count + 1) * state.expectedBytes <= maximumBytes
  }

  private static let maximumBytes = 1 << 20
}
