// SPDX-License-Identifier: Apache-2.0

/// The faults that running work meets: those of its named parts, and one for each attempt.
///
/// The first attempt takes its fault when the store begins the work, so that the order of the inputs
/// determines which work meets a fault. Each later attempt takes its fault when it begins.
final class WorkFaults: Sendable {
  private struct Start {
    /// The fault of the first attempt; nil when it has been met.
    var fault: Fault??
    /// Called when an attempt is carried out for the first time.
    var began: (@Sendable () -> Void)?
  }

  let injected: Faults
  /// The fault of each attempt for which none is injected; nil for none.
  private let standard: Fault?
  /// The action that a failed attempt gives; nil if it gives none.
  let failure: (any Sendable)?
  /// The name by which attempts take faults; nil if they take none.
  private let name: String?
  private let start: Lock<Start>

  private init(
    _ injected: Faults, standard: Fault?, name: String?, failure: (any Sendable)?,
    _ start: Lock<Start>
  ) {
    self.injected = injected
    self.standard = standard
    self.name = name
    self.failure = failure
    self.start = start
  }

  /// Takes the fault of the first attempt.
  ///
  /// - Parameter began: Called when an attempt is carried out, unless the first one is.
  fileprivate convenience init(
    _ injected: Faults, standard: Fault?, name: String, failure: (any Sendable)?,
    began: (@Sendable () -> Void)?
  ) {
    let fault = injected.take(name) ?? standard
    let start = Start(fault: .some(fault), began: fault.isCarriedOut ? nil : began)
    self.init(injected, standard: standard, name: name, failure: failure, Lock(start))
  }

  /// True if the first attempt is carried out immediately.
  fileprivate var isCarriedOut: Bool { start.withLock { ($0.fault ?? nil).isCarriedOut } }

  /// Takes the fault of the next attempt.
  func next() -> Fault? {
    guard let name else { return nil }
    let first: Fault?? = start.withLock { start in
      defer { start.fault = Fault??.none }
      return start.fault
    }
    return first ?? injected.take(name) ?? standard
  }

  /// Reports that an attempt is carried out; the callback is called for the first report only.
  func began() {
    let began = start.withLock { start in
      defer { start.began = nil }
      return start.began
    }
    began?()
  }

  /// Returns the same faults for attempts that give another action when they fail.
  func failing(by failure: (any Sendable)?) -> WorkFaults {
    WorkFaults(injected, standard: standard, name: name, failure: failure, start)
  }

  /// The faults of the named parts alone.
  var ofParts: WorkFaults {
    WorkFaults(injected, standard: nil, name: nil, failure: nil, start)
  }
}

extension Fault? {
  fileprivate var isCarriedOut: Bool { self == nil || self == .dropConnection }
}

extension Work {
  /// The body, each attempt of which can meet faults.
  var attempts: Body {
    if hasAttempts { return body }
    return { [body] context in await context.attempt(body) }
  }

  /// Returns the work, each attempt of which meets the faults that are injected for its name.
  func meeting(_ injected: Faults) -> Work {
    let isOutside = !needsOnlyClock && exchange == nil
    let faults = WorkFaults(
      injected, standard: isOutside ? injected.standard : nil, name: name,
      failure: failing?.failure, began: began)
    return Work(
      name: name, id: id, isFeed: isFeed, isKept: isKept,
      began: faults.isCarriedOut ? began : nil,
      cancelled: cancelled, queue: queue, dependents: dependents, failing: failing,
      hasMetFault: hasMetFault,
      isPresent: isPresent, hasAttempts: true, needsOnlyClock: needsOnlyClock, exchange: exchange
    ) { [attempts] context in await attempts(context.meeting(faults)) }
  }
}
