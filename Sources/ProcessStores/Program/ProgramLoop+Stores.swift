// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireJSON

// The messages of the stores.
extension ProgramLoop {
  func take(_ message: ProgramCommandMessage) {
    switch message {
    case .stopOpening: endOpenings()
    case .stopReplying(let stopped): stopReplying(stopped)
    case .replace(let new): replace(with: new)
    case .retry: if problem != nil, successor == nil { startSuccessor() }
    case .open(let setup, let viewer, let now, let opened):
      if isStopping { return opened(.failure(unavailable)) }
      switch phase {
      case .running: open(setup, viewer, now, opened)
      case .starting where hasFailedToStart: opened(.failure(unavailable))
      case .starting, .ending: early.append(message)
      case .waiting: opened(.failure(unavailable))
      }
    case .begin(let setup, let state, let reply):
      begin(setup, state, reply)
    case .job(let number, let job):
      guard let instance = instances[number] else { return end(job, nil) }
      // One time of a repeated effect stands for all later ones until the program has responded.
      if let key = job.tick, !instance.openTicks.insert(key).inserted { return end(job, nil) }
      take(job, instance)
    case .drop(let job):
      logFailure(
        "dropped an action: its store has more than \(ProcessState.maximumEffects) effects that have not ended"
      )
      end(job, nil)
    case .viewers(let number, let viewers):
      // A restored store has its viewers before it begins.
      guard let instance = instances[number] else {
        earlyViewers[number] = viewers
        return
      }
      instance.viewers = viewers
      if instance.isOpen { sendViewers(instance) }
    case .cancel(let work):
      if let id = works.removeValue(forKey: work), let ended = remove(id) {
        if case .job(let instance, .work(_, let pending, _, _)) = ended {
          instance.forgetFailures(at: pending.key)
        }
        return requests.notify("machine/cancel") { $0.member("run", work) }
      }
      for instance in instances.values { instance.cancel(work) }
    case .close(let number):
      earlyViewers[number] = nil
      guard let instance = instances.removeValue(forKey: number), instance.isOpen else { return }
      // Its last viewers are not sent after it.
      instance.isOpen = false
      requests.notify("machine/close") { $0.member("store", number) }
    }
  }

  /// Ends the openings, whose connections do not outlive the server.
  private func endOpenings() {
    isStopping = true
    takeEarly()
    if case .starting = phase {
      // Nothing waits for its description any more.
      failRequests("the server is shutting down")
      publish(nil, "the server is shutting down")
    }
    for request in removeOpenings() {
      if case .open(let instance, _, let opened) = request {
        instances[instance.setup.number] = nil
        opened(.failure(unavailable))
      }
    }
  }

  /// The error of stores while the program does not run.
  var unavailable: InputRefusal {
    InputRefusal(
      .unavailable, "the program of the store kind \(kind.quoted()) does not run now")
  }

  /// The error of inputs while too much waits for the program.
  private var overloaded: InputRefusal {
    InputRefusal(
      .unavailable,
      "more than \(Self.maximumUnsent >> 20) MiB wait for the program of the store kind \(kind.quoted())"
    )
  }

  private func open(
    _ setup: StoreSetup, _ viewer: Viewer, _ now: Int,
    _ opened: @escaping @Sendable (Result<ProcessState, InputRefusal>) -> Void
  ) {
    let instance = ProgramInstance(setup)
    instances[setup.number] = instance
    instance.isOpen = true
    let id = requests.request("machine/open") { params in
      params.write(setup)
      params.key("viewer")
      params.value(viewer)
      params.member("now", now)
    }
    add(id, .open(instance, now: now, opened))
  }

  private func begin(
    _ setup: StoreSetup, _ state: ProcessState, _ reply: ExchangeReply<ProcessAction>
  ) {
    let known = instances[setup.number]
    let instance = known ?? ProgramInstance(setup)
    instances[setup.number] = instance
    instance.feed = reply
    guard known == nil else { return }
    instance.restore(state)
    instance.viewers = earlyViewers.removeValue(forKey: setup.number)
    unrestored.append(setup.number)
    if case .running = phase { restoreNext() }
  }

  /// The admission of work to the process.
  enum WorkGate {
    case open
    /// Closed until all stores are restored in a new process; `workWaits` if work of a store that is
    /// restored already waits for that.
    case closed(workWaits: Bool)
  }

  /// Restores all stores in a new process, and sends what has waited for it.
  func restoreAll() {
    restoring = 0
    if case .open = workGate { workGate = .closed(workWaits: false) }
    unrestored = instances.keys.sorted().filter { instances[$0]?.hasState == true }
    restoreNext()
    takeEarly()
  }

  /// Handles the messages that have waited for the process.
  func takeEarly() {
    let messages = early
    early = []
    for message in messages { take(message) }
  }

  /// Restores the next stores: a bounded number and size at a time, so that the states of all stores are
  /// not in memory twice, and the process is read while it responds to the first of them. Sends the work that has waited once all are restored.
  func restoreNext() {
    while restoring < Self.maximumRestoring, !unrestored.isEmpty,
      restoring == 0 || unsentBytes < Self.maximumRestoringBytes
    {
      let number = unrestored.removeFirst()
      if let instance = instances[number], !instance.isOpen { restore(instance) }
    }
    guard restoring == 0, unrestored.isEmpty else { return }
    guard case .closed(let workWaits) = workGate else { return }
    workGate = .open
    guard workWaits else { return }
    for instance in instances.values where instance.isOpen { sendWaiting(instance) }
  }

  /// Handles the end of the restoring of a store.
  func restored(_ instance: ProgramInstance) {
    restoring -= 1
    guard instances[instance.setup.number] === instance else {
      // It was closed meanwhile.
      requests.notify("machine/close") { $0.member("store", instance.setup.number) }
      return restoreNext()
    }
    instance.isOpen = true
    instance.forgetFailures(at: nil)
    if instance.viewers != nil { sendViewers(instance) }
    sendWaiting(instance)
    restoreNext()
  }

  /// Sends the jobs of a store that have waited for the program.
  func sendWaiting(_ instance: ProgramInstance) {
    let waiting = instance.waiting
    instance.waiting = []
    for job in waiting { take(job, instance) }
  }

  /// Lets a store refuse its inputs until the program is replaced.
  func setAside(_ instance: ProgramInstance, _ reason: String) {
    instance.problem =
      "the program of the store kind \(kind.quoted()) cannot use the state of the store"
    instance.isOpen = false
    logFailure(reason)
    sendWaiting(instance)
    restoreNext()
  }

  private func restore(_ instance: ProgramInstance) {
    guard !instance.hasFailedTooOften(nil) else { return }
    instance.problem = nil
    restoring += 1
    let now = instance.feed?.clock.milliseconds ?? 0
    let id = requests.request("machine/restore") { params in
      params.write(instance.setup)
      params.member("version", instance.version)
      params.member("state", instance.stateText)
      params.member("now", now)
    }
    // Waiting inputs are sent after the response: a store that cannot be restored keeps them.
    add(id, .restore(instance))
  }

  /// Handles the response to the viewers of a store, and sends those that have come meanwhile.
  func viewersEnded(_ instance: ProgramInstance) {
    instance.forgetFailures(at: ProgramInstance.viewersKey)
    let wasLast = instance.viewersProgress == .sent
    instance.viewersProgress = .none
    if !wasLast, instance.isOpen { sendViewers(instance) }
  }

  /// Sends the viewers of a store, unless the program works on earlier ones: thousands of clients may
  /// connect in a short time, and each request has all viewers.
  private func sendViewers(_ instance: ProgramInstance) {
    guard description.watchesViewers, let viewers = instance.viewers,
      !instance.hasFailedTooOften(ProgramInstance.viewersKey)
    else { return }
    guard instance.viewersProgress == .none else {
      instance.viewersProgress = .outdated
      return
    }
    instance.viewersProgress = .sent
    let now = instance.feed?.clock.milliseconds ?? 0
    let id = requests.request("machine/viewers") { params in
      params.member("store", instance.setup.number)
      params.key("viewers")
      params.beginArray()
      for viewer in viewers { params.value(viewer) }
      params.endArray()
      params.member("now", now)
    }
    add(id, .viewers(instance))
  }

  private func take(_ job: ProgramJob, _ instance: ProgramInstance) {
    if let problem = instance.problem, case .input = job {
      return end(job, InputRefusal(.unavailable, problem))
    }
    // The process may fail at it at any time, and not the stores are to be suspected then.
    if case .work = job, case .closed = workGate {
      workGate = .closed(workWaits: true)
    } else if instance.isOpen, case .running = phase {
      if isFull, case .input = job { return end(job, overloaded) }
      return send(job, instance)
    }
    // Actions and work wait for the program; inputs do so only while it starts.
    switch (job, phase) {
    case (.input, .starting) where hasFailedToStart, (.input, .waiting) where hasFailedToStart:
      end(job, unavailable)
    case (.input, .waiting(let time)) where time > .now: end(job, unavailable)
    default: instance.waiting.append(job)
    }
  }

  private func send(_ job: ProgramJob, _ instance: ProgramInstance) {
    let number = instance.setup.number
    let id: Int
    var hasFailed = false
    switch job {
    case .input(let input, let viewer, _, let reply):
      id = requests.request("machine/input") { params in
        params.member("store", number)
        params.member("input", input)
        params.key("viewer")
        params.value(viewer)
        params.member("now", reply.clock.milliseconds)
        params.trace(reply.span)
      }
    case .action(let action, _, _, let failure, let reply):
      id = requests.request("machine/action") { params in
        params.member("store", number)
        params.member("action", action)
        params.member("now", reply.clock.milliseconds)
        params.trace(reply.span)
        guard let failure else { return }
        params.key("error")
        params.beginObject()
        params.member("reason", failure.reason.rawValue)
        params.member("message", failure.message)
        params.endObject()
      }
    case .work(let work, let pending, let attempt, _):
      id = requests.request("machine/run") { params in
        params.member("store", number)
        params.member("run", work)
        params.member("name", pending.effect.name)
        params.member("arguments", pending.effect.arguments ?? .null)
        params.member("attempt", attempt)
      }
      works[work] = id
      hasFailed = instance.hasFailed(pending.key)
    }
    add(id, .job(instance, job))
    // Shows later whether the process has failed as it began the work, or at another request.
    guard hasFailed else { return }
    add(requests.describe(isTest: isTest), .probe)
  }

  /// Ends a job without the program.
  ///
  /// - Parameter refusal: The reason to refuse it; nil for a job that is not needed any more.
  func end(_ job: ProgramJob, _ refusal: InputRefusal?) {
    switch job {
    case .input(_, _, _, let reply):
      deliver(reply.message(nil, refusing: refusal ?? unavailable), to: reply)
    case .action(_, let key, let origin, _, let reply):
      deliver(reply.message(origin == .end ? .dropped(key) : nil), to: reply)
    case .work(_, _, _, let events):
      if let refusal {
        events.yield(.failed(ActionFailure(reason: .error, message: refusal.message)))
      }
      events.finish()
    }
  }

  /// Ends the messages that wait, because the process does not start.
  func failEarly() {
    takeEarly()
    for instance in instances.values { sendWaiting(instance) }
  }

  /// Records that the process has failed at a request.
  func recordFailure(_ request: Request, isLikely: Bool) {
    switch request {
    case .restore(let instance): instance.failed(at: nil, isLikely: isLikely)
    case .viewers(let instance): instance.failed(at: ProgramInstance.viewersKey, isLikely: isLikely)
    case .job(let instance, .action(_, let key, _, _, _)):
      instance.failed(at: key, isLikely: isLikely)
    case .job(let instance, .work(_, let pending, _, _)):
      instance.failed(at: pending.key, isLikely: isLikely)
    case .describe, .open, .job, .probe: break
    }
  }

  /// Ends a request whose process has ended.
  func interrupted(_ request: Request, _ reason: String) {
    switch request {
    case .describe, .probe: break
    case .viewers(let instance): instance.viewersProgress = .none
    case .restore(let instance):
      restoring -= 1
      guard instance.hasFailedTooOften(nil) else { return }
      setAside(instance, "the program failed 3 times when it restored a store")
    case .open(let instance, _, let opened):
      instances[instance.setup.number] = nil
      opened(.failure(InputRefusal(.unavailable, reason)))
    case .job(let instance, let job):
      switch job {
      case .input(_, _, _, let reply):
        // The process may have applied it, so it is not sent again.
        deliver(reply.message(nil, refusing: InputRefusal(.unavailable, reason)), to: reply)
      case .action(_, let key, _, _, _):
        // Nothing of it is in the state.
        guard instance.hasFailedTooOften(key) else { return instance.repeatLater(job) }
        instance.openTicks.remove(key)
        logFailure("dropped an action: the program failed at it 3 times")
        end(job, nil)
      case .work(_, let pending, _, let events):
        if pending.effect.restart == .again, !instance.hasFailedTooOften(pending.key) {
          instance.repeatLater(job)
        } else {
          events.yield(.failed(ActionFailure(reason: .interrupted, message: reason)))
          events.finish()
        }
      }
    }
  }
}

extension ProgramJob {
  /// The key of the repeated effect of which it is an action; nil for other jobs.
  fileprivate var tick: Int? {
    if case .action(_, let key, .tick, _, _) = self { key } else { nil }
  }
}

extension JSONWriter {
  fileprivate mutating func write(_ setup: StoreSetup) {
    member("store", setup.number)
    member("name", setup.name)
    member("configuration", setup.configuration)
  }
}
