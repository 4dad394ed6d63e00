// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RemoteSources
import ServerCore
import Sessions

/// The limits of `statewire serve`.
struct LimitOptions: ParsableArguments {
  @Option(help: "Bytes of one message.")
  var maximumFrameBytes = ServerLimits().frameBytes

  @Option(help: "How deep arrays and objects of a message may nest.")
  var maximumDepth = ServerLimits().depth

  @Option(help: "Requests in one batch.")
  var maximumBatchLength = ServerLimits().batchLength

  @Option(help: "Requests of one connection whose effects are running.")
  var maximumOpenRequests = ServerLimits().openRequests

  @Option(help: "Bytes that may wait for one peer to read them.")
  var maximumOutboxBytes = ServerLimits().outboxBytes

  @Option(help: "Connections in all.")
  var maximumConnections = ServerLimits().connections

  @Option(help: "Stores of one session.")
  var maximumStores = SessionLimits().storesPerSession

  @Option(help: "Bytes of what a source gives.")
  var maximumSourceBytes = HTTPSource.maximumBytes

  func validate() throws {
    let all = [
      maximumFrameBytes, maximumDepth, maximumBatchLength, maximumOpenRequests,
      maximumOutboxBytes, maximumConnections, maximumStores, maximumSourceBytes,
    ]
    guard all.allSatisfy({ $0 > 0 }) else { throw ValidationError("A limit is at least 1.") }
    guard maximumDepth <= 10_000 else { throw ValidationError("The depth is at most 10000.") }
  }

  var server: ServerLimits {
    var limits = ServerLimits()
    limits.frameBytes = maximumFrameBytes
    limits.depth = maximumDepth
    limits.batchLength = maximumBatchLength
    limits.openRequests = maximumOpenRequests
    limits.outboxBytes = maximumOutboxBytes
    limits.connections = maximumConnections
    return limits
  }

  var session: SessionLimits {
    var limits = SessionLimits()
    limits.storesPerSession = maximumStores
    return limits
  }
}
