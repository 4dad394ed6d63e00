// SPDX-License-Identifier: Apache-2.0

extension Effect {
  /// The same effect, whose work is tried again when it fails.
  ///
  /// A failure that another attempt follows is not sent. Each work of several is retried by itself;
  /// immediate effects are not, as they would give the same again.
  ///
  /// - Parameters:
  ///   - attempts: How often in all.
  ///   - backoff: How long to wait between attempts.
  ///   - isFailure: Whether an action says that the work has failed.
  ///   - waiting: The action to send before each wait, if any; given the number of the attempt
  ///     after it, 2 at first.
  public func retried(
    attempts: Int, backoff: Backoff = .exponential(),
    when isFailure: @escaping @Sendable (Action) -> Bool,
    waiting: @escaping @Sendable (_ next: Int) -> Action? = { _ in nil }
  ) -> Effect {
    mapBody { body in
      { context in
        _ = await context.clock.retry(attempts: attempts, backoff: backoff) { hasFailed in
          hasFailed
        } waiting: { next in
          if let action = waiting(next) { await context.send(action) }
        } _: { attempt in
          let hasFailed = Lock(false)
          await body(
            context.pullback { action in
              guard attempt < attempts, isFailure(action) else { return action }
              hasFailed.withLock { $0 = true }
              return nil
            })
          return hasFailed.withLock { $0 }
        }
      }
    }
  }

  /// The same effect, whose work gives an action when it takes too long.
  ///
  /// Its task is cancelled then, and what it still sends is dropped. Each work of several has the
  /// time for itself; a wait before it does not count.
  ///
  /// - Parameters:
  ///   - limit: How long it may take on the store's clock.
  ///   - action: What is sent when it took longer.
  public func timeout(after limit: Duration, _ action: Action) -> Effect {
    mapBody { body in
      { context in
        let isOpen = Lock(true)
        await withTaskGroup(of: Bool.self) { group in
          group.addTask {
            await body(context.pullback { action in isOpen.withLock { $0 } ? action : nil })
            return true
          }
          group.addTask { (try? await context.sleep(for: limit)) == nil }
          let hasEnded = await group.next() ?? true
          isOpen.withLock { $0 = hasEnded }
          group.cancelAll()
          // Sent before the work is waited for, which may not hear that it was cancelled.
          if !hasEnded { await context.send(action) }
        }
      }
    }
  }

  /// The same effect, which is spared for a while once its work has given a certain action:
  /// instead, that action is folded at once.
  ///
  /// - Parameters:
  ///   - cache: Where actions are kept; several effects may share one.
  ///   - key: What this one is kept under.
  ///   - time: How long.
  ///   - isKept: Which action is worth keeping; a failure is not.
  public func cached<Key: Hashable & Sendable>(
    in cache: ExpiringCache<Key, Action>, key: Key, for time: Duration,
    when isKept: @escaping @Sendable (Action) -> Bool
  ) -> Effect {
    let keeping = mapBody { body in
      { context in
        await body(
          context.pullback { action in
            if isKept(action) {
              cache.insert(action, for: key, keeping: time, now: context.clock.uptime)
            }
            return action
          })
      }
    }
    return .deferred { clock in
      cache.value(for: key, now: clock.uptime).map { .action($0) } ?? keeping
    }
  }

  /// The same effect with what its works do replaced by something else; waits stay as they are.
  private func mapBody(
    _ change:
      @escaping @Sendable (@escaping Work<Action>.Body) -> Work<Action>.Body
  ) -> Effect {
    switch step {
    case .none, .action, .named, .cancel, .operation:
      return self
    case .several(let effects):
      return .several(effects.map { $0.mapBody(change) })
    case .work(let work):
      return Effect(step: .work(work.changing(body: change(work.body))))
    case .put(let delay, let wait, let effect):
      return Effect(step: .put(off: delay, wait, effect.mapBody(change)))
    case .deferred(let make):
      return Effect(step: .deferred { make($0).mapBody(change) })
    }
  }
}
