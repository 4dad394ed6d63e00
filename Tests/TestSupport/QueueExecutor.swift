// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// A serial executor on a dispatch queue, in place of the event loop of a shard.
public final class QueueExecutor: SerialExecutor {
  private let queue = DispatchQueue(label: "shard")
  private let key = DispatchSpecificKey<Bool>()

  public init() { queue.setSpecific(key: key, value: true) }

  /// True for code that runs on this executor.
  public var isCurrent: Bool { DispatchQueue.getSpecific(key: key) ?? false }

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
