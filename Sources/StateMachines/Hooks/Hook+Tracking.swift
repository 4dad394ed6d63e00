// SPDX-License-Identifier: Apache-2.0

internal import VersionedList

/// An event that is counted under its own name.
///
/// The intent of a user and the outcome are two events with different names, so that nothing is
/// counted twice.
public struct TrackedEvent: Sendable {
  enum Moment: Sendable {
    case input(String)
    case finished(operation: String)
    case produced(operation: String, action: String)
  }

  /// The name under which the event is counted.
  public let name: String
  let moment: Moment

  /// Returns the event that an input arrived: a user wants something.
  ///
  /// - Parameters:
  ///   - name: The name under which the event is counted.
  ///   - input: The name of the input's case.
  public static func intent(_ name: String, input: String) -> TrackedEvent {
    TrackedEvent(name: name, moment: .input(input))
  }

  /// Returns the event that an operation has finished without a failure.
  public static func outcome(_ name: String, operation: String) -> TrackedEvent {
    TrackedEvent(name: name, moment: .finished(operation: operation))
  }

  /// Returns the event that an operation gave an action of this case for the first time. For work
  /// that then continues as a feed.
  public static func outcome(
    _ name: String, operation: String, action: String
  ) -> TrackedEvent {
    TrackedEvent(name: name, moment: .produced(operation: operation, action: action))
  }
}

extension Hook {
  /// Returns a hook that counts events, each once per input or operation, by name only.
  ///
  /// ```swift
  /// .tracking(
  ///   .intent("todoAddTapped", input: "todoAdded"), .outcome("todoAdded", operation: "addTodo")
  /// ) { await analytics.count($0) }
  /// ```
  ///
  /// - Parameters:
  ///   - events: The events to count; their names must differ.
  ///   - track: Receives the name of an event that has happened.
  ///   - failed: Receives an error that `track` throws.
  public static func tracking(
    _ events: TrackedEvent...,
    to track: @escaping @Sendable (String) async throws -> Void,
    failed: @escaping @Sendable (any Error) -> Void = { _ in }
  ) -> Hook {
    precondition(
      Set(events.map { ByteString($0.name) }).count == events.count,
      "tracked events must have different names")
    return perStore { tracking(events, track, failed) }
  }

  private static func tracking(
    _ events: [TrackedEvent], _ track: @escaping @Sendable (String) async throws -> Void,
    _ failed: @escaping @Sendable (any Error) -> Void
  ) -> Hook {
    // The events that have been counted for operations that still run.
    let counted = Lock<[Operation: Set<ByteString>]>([:])
    return Hook(
      stages: [.input, .operation],
      receiveRequest: { _, input in
        guard let input else { return }
        let name = caseName(of: input)
        for event in events {
          if case .input(name) = event.moment { try await track(event.name) }
        }
      },
      receiveOutput: { operation, output in
        guard operation.stage == .operation, case .action(let action, isFailure: false) = output
        else { return }
        let name = caseName(of: action)
        for event in events {
          guard case .produced(operation.name, name) = event.moment,
            counted.withLock({
              $0[operation, default: []].insert(ByteString(event.name)).inserted
            })
          else { continue }
          try await track(event.name)
        }
      },
      receiveCompletion: { operation, end in
        counted.withLock { _ = $0.removeValue(forKey: operation) }
        guard operation.stage == .operation, end == .finished else { return }
        for event in events {
          if case .finished(operation.name) = event.moment { try await track(event.name) }
        }
      },
      receiveCancel: { operation in
        counted.withLock { _ = $0.removeValue(forKey: operation) }
      }, failed: failed)
  }
}
