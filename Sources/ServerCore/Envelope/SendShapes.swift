// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON
internal import Synchronization

/// The shapes that frontends' inputs come in; kept once, however many frontends write alike.
final class SendShapes: Sendable {
  private let all = Mutex<[SendShape]>([])

  // So many kinds of frontends one server is used by; what goes beyond is not shared.
  private static var maximumCount: Int { 32 }

  /// A shape, or one that is the same and is there already.
  func shared(_ shape: SendShape) -> SendShape {
    all.withLock { shapes in
      if let known = shapes.first(where: { $0.isSame(as: shape) }) { return known }
      if shapes.count < Self.maximumCount { shapes.append(shape) }
      return shape
    }
  }
}
