// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireJSON

// The messages of the process.
extension ProgramLoop {
  /// Handles a line.
  ///
  /// - Returns: False if the process has failed.
  func take(_ line: UnsafeRawBufferPointer) -> Bool {
    // The request whose response the line is.
    var request: Request?
    do throws(JSONError) {
      switch try ProgramMessage(line) {
      case .result(let id, let text):
        request = try responded(id)
        if let request { try take(text, request) }
      case .error(let id, let error):
        request = try responded(id)
        if let request { try take(error, request) }
      case .action(let work, let action):
        guard let id = works[work], case .job(_, .work(_, _, _, let events))? = open.work(id)
        else {
          try countUnsolicitedMessage()
          return true
        }
        // Inputs are refused before, so these are actions.
        if unsentBytes > 2 * Self.maximumUnsent {
          throw JSONError(.value, "work sends actions, and the program does not read its requests")
        }
        if case .enqueued(remaining: ..<2) = events.yield(.action(action)) {
          throw JSONError(
            .value, "work has sent more than 1000 actions that the store has not applied")
        }
      case .unknown: try countUnsolicitedMessage()
      }
      return true
    } catch {
      let place = error.path.isEmpty ? "" : " (at \(error.pathDescription))"
      failed("the program violated the protocol: \(error.message)\(place)", at: request)
      return false
    }
  }

  /// Removes the request to which the process has responded; nil for work that was cancelled, whose
  /// response is ignored.
  private func responded(_ id: Int) throws(JSONError) -> Request? {
    // Otherwise an input would be journaled as applied because a later one has its response.
    guard open.isNext(id) else {
      throw JSONError(.value, "a response comes before that to an earlier request of its store")
    }
    guard let request = remove(id) else {
      guard id <= requests.last else { throw JSONError(.value, "no request has the id \(id)") }
      try countUnsolicitedMessage()
      return nil
    }
    forgetErrorLine(before: id)
    return request
  }

  private func take(_ result: UnsafeRawBufferPointer, _ request: Request) throws(JSONError) {
    switch request {
    case .describe: run(try ProgramDescription(result))
    case .probe: break
    case .open(let instance, let now, let opened):
      let update = try apply(ParsedUpdate(result), to: instance, now: now)
      var state = ProcessState(
        version: update.version, state: update.state, view: update.view, views: update.views,
        viewKey: description.viewKey)
      state.begin(update.effects)
      opened(.success(state))
    case .restore(let instance):
      let hasRemoved = instance.removeViews(description)
      try update(instance, result, isNeeded: hasRemoved)
      restored(instance)
    case .viewers(let instance):
      try update(instance, result)
      viewersEnded(instance)
    case .job(let instance, let job): try end(job, instance, result)
    }
  }

  private func apply(
    _ parsed: ParsedUpdate, to instance: ProgramInstance, of input: UInt64? = nil,
    ending ended: Int? = nil, now: Int
  ) throws(JSONError) -> ProcessUpdate {
    try instance.apply(
      parsed, of: input, ending: ended, by: description, checksSchemas: isTest, now: now)
  }

  /// Handles an update that belongs to no request of a store.
  ///
  /// - Parameter isNeeded: False if an update without a change is dropped.
  private func update(
    _ instance: ProgramInstance, _ result: UnsafeRawBufferPointer, isNeeded: Bool = true
  ) throws(JSONError) {
    let parsed = try ParsedUpdate(result)
    guard let reply = instance.feed else { return }
    let before = instance.version
    let update = try apply(parsed, to: instance, now: reply.clock.milliseconds)
    if !isNeeded, before == update.version, parsed.isEmpty { return }
    deliver(reply.progress(.updated(update)), to: reply)
  }

  private func end(
    _ job: ProgramJob, _ instance: ProgramInstance, _ result: UnsafeRawBufferPointer
  ) throws(JSONError) {
    switch job {
    case .input(_, _, let number, let reply):
      let update = try apply(
        ParsedUpdate(result), to: instance, of: number, now: reply.clock.milliseconds)
      deliver(reply.message(.updated(update)), to: reply)
    case .action(_, let key, let origin, _, let reply):
      let update = try apply(
        ParsedUpdate(result), to: instance, ending: origin == .end ? key : nil,
        now: reply.clock.milliseconds)
      instance.forgetFailures(at: key)
      instance.openTicks.remove(key)
      deliver(reply.message(.updated(update)), to: reply)
    case .work(let work, let pending, _, let events):
      works[work] = nil
      var reader = JSONReader(result)
      var action: JSONText?
      try reader.beginObject()
      while let key = try reader.nextKey() {
        if key != "action" {
          _ = try reader.skipValue()
        } else if try !reader.readNullIfPresent() {
          action = try reader.read()
        }
      }
      instance.forgetFailures(at: pending.key)
      events.yield(.ended(action))
      events.finish()
    }
  }

  private func take(_ error: ProgramError, _ request: Request) throws(JSONError) {
    switch request {
    case .describe:
      throw JSONError(.value, "machine/describe failed: \(error.message)")
    case .open(let instance, _, let opened):
      instances[instance.setup.number] = nil
      opened(.failure(refusal(error)))
    case .restore(let instance):
      restoring -= 1
      setAside(instance, "the program cannot restore a store: \(error.message)")
    case .probe: break
    case .viewers(let instance):
      logFailure("machine/viewers failed: \(error.message)")
      viewersEnded(instance)
    case .job(let instance, let job):
      switch job {
      case .input(_, _, _, let reply):
        deliver(reply.message(nil, refusing: refusal(error)), to: reply)
      case .action(_, let key, let origin, _, let reply):
        instance.forgetFailures(at: key)
        instance.openTicks.remove(key)
        logFailure("machine/action failed: \(error.message)")
        deliver(reply.message(origin == .end ? .dropped(key) : nil), to: reply)
      case .work(let work, let pending, _, let events):
        works[work] = nil
        instance.forgetFailures(at: pending.key)
        events.yield(.failed(ActionFailure(reason: .error, message: error.message)))
        events.finish()
      }
    }
  }

  private func refusal(_ error: ProgramError) -> InputRefusal {
    guard error.isRefusal else {
      logFailure("a request failed: \(error.message)")
      return InputRefusal(
        .unavailable, "the program of the store kind \(kind.quoted()) has failed")
    }
    return InputRefusal(
      error.limit.map { .limit($0) } ?? .value, error.message, path: error.path)
  }
}
