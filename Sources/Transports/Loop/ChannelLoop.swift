// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import ServerCore

/// SwiftNIO's event loop as the loop of write coalescing.
final class ChannelLoop: DeliveryLoop {
  private let loop: any EventLoop

  init(_ loop: any EventLoop) { self.loop = loop }

  var uptime: Int64 { Int64(truncatingIfNeeded: loop.now.uptimeNanoseconds) }

  func afterOthers(_ body: @escaping () -> Void) {
    let body = NIOLoopBound(body, eventLoop: loop)
    loop.execute { body.value() }
  }

  func at(_ uptime: Int64, _ body: @escaping () -> Void) {
    let body = NIOLoopBound(body, eventLoop: loop)
    loop.scheduleTask(deadline: .uptimeNanoseconds(UInt64(uptime))) { body.value() }
  }
}
