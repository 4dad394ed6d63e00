// SPDX-License-Identifier: Apache-2.0

extension Effect {
  /// Returns the same effect, whose work is tried again when it fails.
  ///
  /// A failure is not sent if another attempt follows. If there are several works, each is retried
  /// separately. Immediate effects are not retried, because they would give the same actions again.
  ///
  /// - Parameters:
  ///   - attempts: The number of attempts in total.
  ///   - backoff: The waits between attempts.
  ///   - isFailure: Returns true for an action that stands for a failure of the work. By default
  ///     that is what `failing:` or `operation` of the work names; one of them is required then.
  ///   - waiting: Returns the action to send before each wait, if any. Its argument is the number
  ///     of the next attempt, at first 2.
  public func retried(
    attempts: Int, backoff: Backoff = .exponential(),
    when isFailure: (@Sendable (Action) -> Bool)? = nil,
    waiting: @escaping @Sendable (_ next: Int) -> Action? = { _ in nil }
  ) -> Effect {
    mapAttempts { body, failing in
      precondition(
        isFailure != nil || failing != nil, "retried needs `when`, or work that names its failure")
      return { context in
        _ = await context.clock.retry(attempts: attempts, backoff: backoff) { hasFailed in
          hasFailed
        } waiting: { next in
          if let action = waiting(next) { await context.send(action) }
        } _: { attempt in
          let hasFailed = Lock(false)
          await body(
            context.filter { action, isError in
              let fails = isFailure?(action) ?? (isError || failing?.isFailure(action) ?? false)
              guard attempt < attempts, fails else { return true }
              hasFailed.withLock { $0 = true }
              return false
            })
          return hasFailed.withLock { $0 }
        }
      }
    }
  }

  /// Returns the same effect, whose work gives an action if it takes too long.
  ///
  /// The task of the work is cancelled then, and actions that it still sends are dropped. If there
  /// are several works, each has its own limit. A wait before the work does not count.
  ///
  /// - Parameters:
  ///   - limit: The longest time for the work, on the store's clock; with 0, the work does not begin.
  ///   - action: The action to send if the work took longer.
  public func timeout(after limit: Duration, _ action: Action) -> Effect {
    mapAttempts { body, _ in
      { context in
        guard limit > .zero else { return await context.send(action) }
        let isOpen = Lock(true)
        await withTaskGroup(of: Bool.self) { group in
          group.addTask {
            await body(context.filter { _, _ in isOpen.withLock { $0 } })
            return true
          }
          // A sleep with a tolerance ends after the others with its deadline: on a virtual clock, the
          // end of the work at this instant is not too late.
          group.addTask {
            (try? await context.clock.sleep(for: limit, tolerance: .nanoseconds(1))) == nil
          }
          let hasEnded = await group.next() ?? true
          isOpen.withLock { $0 = hasEnded }
          group.cancelAll()
          // Sent before the group waits for the work, which may ignore its cancellation.
          if !hasEnded { await context.send(action) }
        }
      }
    }
  }

  /// Returns the same effect, which is not performed for some time after its work gave an action
  /// that is cached. Instead the cached action is folded immediately.
  ///
  /// - Parameters:
  ///   - cache: The cache of actions; several effects may share one.
  ///   - key: The key of this effect in the cache.
  ///   - time: The time for which an action is cached.
  ///   - isKept: Returns true for an action that is cached; it should return false for a failure.
  public func cached<Key: Hashable & Sendable>(
    in cache: ExpiringCache<Key, Action>, key: Key, for time: Duration,
    when isKept: @escaping @Sendable (Action) -> Bool
  ) -> Effect {
    let keeping = mapAttempts { body, _ in
      { context in
        await body(
          context.filter { action, _ in
            if isKept(action) {
              cache.insert(action, for: key, keeping: time, now: context.clock.uptime)
            }
            return true
          })
      }
    }
    return .deferred { clock in
      cache.value(for: key, now: clock.uptime).map { .action($0) } ?? keeping
    }
  }

  /// Returns the same effect with the bodies of its works changed; waits stay the same. Each call of
  /// an original body is an attempt, which can meet injected faults.
  private func mapAttempts(
    _ change:
      @escaping @Sendable (
        _ attempt: @escaping Work<Action>.Body, _ failing: Failing<Action>?
      ) -> Work<Action>.Body
  ) -> Effect {
    mapOwnWork { work in
      work.changing(hasAttempts: true, body: change(work.attempts, work.failing))
    }
  }
}
