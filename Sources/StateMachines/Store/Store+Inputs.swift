// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

// Inputs of a store, and the steps that they and running work cause.

extension Store {
  /// Takes one input and folds its immediate actions.
  ///
  /// - Parameters:
  ///   - input: The input.
  ///   - viewer: The participant that sends it.
  /// - Returns: The result; nil if called inside a publication, because then the input is queued
  ///   and folded after the publication.
  /// - Throws: `StoreError`; nothing has changed, unless the input had other immediate actions.
  @discardableResult
  public func send(
    _ input: Machine.Input, from viewer: Viewer = .server
  ) throws(StoreError) -> SendResult? {
    if case .closed = phase { throw .closed }
    let inputID = inputIDs.issue()
    guard case .idle = phase else {
      waiting.append(.input(input, inputID, viewer))
      return nil
    }
    let before = revision
    phase = .folding
    base = .revision
    take(input, inputID, viewer)
    let base = StateMark(revision: before, state: takeBase())
    if failure != nil { try refuse(inputID) }
    runSteps()
    return SendResult(
      inputID: inputID, base: base, revision: revision, changed: hasChanged(since: base),
      isSettled: inputIDs.isSettled(inputID), isReplied: inputIDs.isReplied(inputID))
  }

  /// Cancels the effects of an input of which an action was taken back, and throws the reason.
  private func refuse(_ inputID: InputID) throws(StoreError) {
    guard let failure else { return }
    runSteps()
    cancel(inputID)
    throw .unencodable(failure.error)
  }

  /// Returns true if the view state differs from an earlier one; see `AnyStore.hasChanged`.
  public func hasChanged(since mark: StateMark) -> Bool {
    // One publication is always a change; several may lead back to the same state.
    guard revision > mark.revision + 1, let before = mark.state else {
      return revision != mark.revision
    }
    return !published.isSame(as: before)
  }

  /// Takes the input that the machine returns for a phase, if any.
  public func take(_ phase: LifecyclePhase) {
    // A closed store ignores the change of phase.
    for input in running.composed.inputs(for: phase, in: running.state) { _ = try? send(input) }
  }

  /// Performs the queued steps, including those that are queued meanwhile.
  func work() {
    phase = .folding
    runSteps()
  }

  private func runSteps() {
    if !followUps.isEmpty { performFollowUps() }
    var next = 0
    while next < waiting.count, phase == .folding {
      let step = waiting[next]
      next += 1
      switch step {
      case .input(let input, let inputID, let viewer):
        take(input, inputID, viewer)
        if failure != nil { cancelAll(of: inputID) }
      case .restart(let input, let inputID, let age):
        beginPerforming(inputID)
        observers?.began(.input(inputID), input: input, revision)
        perform(restart(of: input, after: age), for: inputID)
        performFollowUps(of: inputID)
        performed(inputID)
        if failure != nil { cancelAll(of: inputID) }
        if inputIDs.isSettled(inputID) { record?.settled(inputID) }
      case .action(let action, let inputID):
        keepingBase(of: inputID) { fold(action, for: inputID) }
      case .becameFeed(let action, let number):
        becameFeed(number, giving: action)
      case .next(let next):
        runner.cause = next.cause
        keepingBase(of: next.inputID) { perform(next.effect, for: next.inputID) }
        runner.cause = nil
        settled(next.inputID, cancelled: false)
      case .cancel(let inputID):
        cancelAll(of: inputID)
      case .replied(let run, let action, let refusal):
        replied(run, action, refusal)
      }
      if !followUps.isEmpty { performFollowUps() }
    }
    if !waiting.isEmpty { waiting.removeAll(keepingCapacity: true) }
    if phase == .folding { phase = .idle }
  }

  /// Performs the effect of an input.
  private func take(_ input: Machine.Input, _ inputID: InputID, _ viewer: Viewer) {
    beginPerforming(inputID)
    observers?.began(.input(inputID), input: input, revision)
    if let span = runner.cause { describe(span, input) }
    perform(running.effect(of: input, from: viewer), for: inputID)
    if !followUps.isEmpty { performFollowUps(of: inputID) }
    performed(inputID)
    if record != nil { accepted(input, inputID, viewer) }
  }

  /// Adds the name of an input to its span. A value that is not an enum has no name.
  private func describe(_ span: any TraceSpan, _ input: Machine.Input) {
    let name = caseName(of: input)
    if name != "\(Machine.Input.self)" { span.describe(input: name) }
  }

  /// Performs an effect that belongs to no input.
  func begin(_ effect: Effect<Machine.Action>) {
    if case .none = effect.step { return }
    phase = .folding
    performWithoutInput(effect)
    work()
  }

  /// Keeps the view state before the input or the reply that is being performed, because more than
  /// one publication may follow, in this turn or later.
  func keepBase() {
    guard case .revision = base else { return }
    let keepsValues = KeptStates.permit(inputIDs.keptStates, of: published)
    base = .state(published.mark(keepingValues: keepsValues))
  }

  /// The number of open inputs for which an earlier state is kept.
  var keptStates: Int { inputIDs.keptStates }

  /// Calls `body`, which folds actions of an input, and keeps the state before them if their
  /// changes count for a response.
  private func keepingBase(of inputID: InputID?, _ body: () -> Void) {
    guard let inputID, inputIDs.isResponseDue(inputID) else { return body() }
    if let base = changing(inputID, isLast: false, body) { inputIDs.changed(inputID, from: base) }
  }

  /// Calls `body`, which folds actions of an input that another party works at.
  ///
  /// - Parameter isLast: True if nothing but the consequences of one action can follow.
  /// - Returns: The state before, as the sender of the input sees it; nil if it has not changed.
  func changing(_ inputID: InputID, isLast: Bool, _ body: () -> Void) -> StateMark? {
    let view = audiences == nil ? nil : inputIDs.view(of: inputID)
    let seen = view?.mark(beside: keptStates)
    let before = revision
    if view == nil {
      base = .revision
      if !isLast { keepBase() }
    }
    body()
    let mark = seen ?? StateMark(revision: before, state: takeBase())
    return (view?.revision ?? revision) == mark.revision ? nil : mark
  }

  /// Returns the state of `base`; nil if it was not kept. It is unneeded then.
  func takeBase() -> JSONEncodedState.Mark? {
    defer { base = .unneeded }
    return if case .state(let mark) = base { mark } else { nil }
  }

  /// Performs an effect that belongs to no input, under an id of its own.
  func performWithoutInput(_ effect: Effect<Machine.Action>) {
    let inputID = inputIDs.issue()
    effectsWithoutInput.insert(inputID)
    beginPerforming(inputID)
    observers?.began(.input(inputID), revision)
    perform(effect, for: inputID)
    performFollowUps(of: inputID)
    performed(inputID)
    if failure != nil { cancelAll(of: inputID) }
    if inputIDs.isSettled(inputID) { effectsWithoutInput.remove(inputID) }
  }

  private func beginPerforming(_ inputID: InputID) {
    performing = inputID
    if failure != nil { failure = nil }
  }

  /// Records that all effects of an input have been started.
  private func performed(_ inputID: InputID) {
    performing = nil
    if inputIDs.isSettled(inputID) { observers?.ended(.input(inputID), .finished, revision) }
  }
}
