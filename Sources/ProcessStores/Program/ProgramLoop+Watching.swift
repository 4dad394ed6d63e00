// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireJSON

// The replacement of the process when files have changed.
extension ProgramLoop {
  /// The time between two checks of the files for changes.
  ///
  /// - Units: milliseconds.
  static let watchInterval: Int32 = 200

  /// Starts the successor when files have changed, and follows it until it replaces the process.
  func watch() {
    if nextLook <= .now {
      let began = ContinuousClock.now
      let hasChanged = files?.hasChanged() == true
      // The stores wait meanwhile, so that at most a twentieth of the time is for a large folder.
      let time = began.duration(to: .now)
      nextLook = .now + max(.milliseconds(Int(Self.watchInterval)), time * 20)
      reportFiles()
      if hasChanged { startSuccessor() }
    }
    guard let successor else { return replaceIfIdle() }
    successor.streams.receiveErrors { self.successor?.lastError = $0 }
    var result: Result<ProgramDescription, JSONError>?
    let output = successor.streams.receive { line in
      result = Self.description(line)
      // Notifications before it are ignored.
      return result == nil
    }
    switch (result, output) {
    case (.success(let description)?, _): replace(by: description)
    case (.failure(let error)?, _): giveUp("violated the protocol: \(error.message)")
    case (nil, .ended): giveUp(successor.streams.end(waiting: true), hasEnded: true)
    case (nil, .overlong): giveUp("sent a line that is too long")
    case (nil, .open):
      if case .ending = phase { break }
      if successor.deadline <= .now { giveUp("did not respond within \(command.timeLimit)") }
    }
    replaceIfIdle()
  }

  /// Logs once that some files of the folder are not watched.
  func reportFiles() {
    guard files?.takeTooMany() == true, let folder = files?.folderPath else { return }
    log(
      .notice(
        """
        \(folder) has more than \(WatchedFolder.maximumFiles) files, and changes of some are not \
        seen; move files that do not belong to the program to another folder
        """))
  }

  func startSuccessor() {
    // A later change replaces an earlier one.
    successor?.streams.end()
    successor = nil
    switch phase {
    case .running: break
    case .ending: continueProcess()
    case .starting:
      changesAgain = true
      return
    case .waiting:
      // The next start has the new files.
      (failures, hasFailedToStart) = (0, false)
      phase = .waiting(until: .now)
      for instance in instances.values { instance.forgetFailures() }
      return
    }
    do throws(ProgramProcess.StartError) {
      let streams = try ProgramStreams(command)
      var requests = ProgramRequests()
      _ = requests.describe(isTest: isTest)
      requests.output.withBytes { streams.send($0) }
      successor = Successor(streams: streams, deadline: .now + command.timeLimit)
    } catch {
      continueEarlier(
        "the earlier program continues, because the changed program cannot be started: \(error)")
    }
  }

  private static func description(
    _ line: UnsafeRawBufferPointer
  ) -> Result<ProgramDescription, JSONError>? {
    do throws(JSONError) {
      switch try ProgramMessage(line) {
      case .result(_, let text): return .success(try ProgramDescription(text))
      case .error(_, let error): throw JSONError(.value, error.message)
      case .unknown: return nil
      case .action: throw JSONError(.value, "the first message is not a description")
      }
    } catch {
      return .failure(error)
    }
  }

  /// Lets the process continue, whose successor is given up.
  private func continueProcess() {
    guard case .ending = phase else { return }
    phase = .running
    for instance in instances.values where instance.isOpen { sendWaiting(instance) }
    // Stores that were loaded meanwhile.
    restoreNext()
    takeEarly()
  }

  private func giveUp(_ reason: String, hasEnded: Bool = false) {
    guard let successor else { return }
    defer { continueProcess() }
    successor.streams.receiveErrors { self.successor?.lastError = $0 }
    let error = self.successor?.lastError.map { ": \($0)" } ?? ""
    if !hasEnded { successor.streams.end() }
    self.successor = nil
    continueEarlier(
      "the earlier program continues, because the changed program \(reason)\(error)")
  }

  /// Reports that the changed program does not run.
  private func continueEarlier(_ problem: String) {
    log(.failure(problem))
    publish(nil, problem)
    notifyStores(.reloadFailed)
  }

  /// Passes an action to all stores.
  private func notifyStores(_ action: ProcessAction) {
    for instance in instances.values {
      if let reply = instance.feed { deliver(reply.progress(action), to: reply) }
    }
  }

  private func replace(by new: ProgramDescription) {
    for fault in SchemaChange.faults(from: description, to: new) {
      log(.failure("the changed program may be incompatible with its clients: \(fault)"))
    }
    phase = .ending(new)
  }

  /// Replaces the process by its successor when it has responded to all requests except work.
  private func replaceIfIdle() {
    guard case .ending(let new) = phase, let successor, open.isIdle else { return }
    failRequests("the program of the store kind \(kind.quoted()) was replaced")
    process?.end()
    process = successor.streams
    self.successor = nil
    requests = ProgramRequests(after: 1)
    startedAt = .now
    unsolicitedMessages = Self.unsolicitedLimit()
    for instance in instances.values { instance.forgetFailures() }
    let cause = files?.changedFile.map { " (\($0) has changed)" } ?? ""
    log(.notice("the changed program runs\(cause)"))
    notifyStores(.reloaded)
    run(new)
  }
}
