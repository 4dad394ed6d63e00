// SPDX-License-Identifier: Apache-2.0

internal import VersionedList

/// Something that is counted, under a name of its own.
///
/// What somebody wants and what comes of it are two events with two names, so that nothing is
/// counted twice.
public struct TrackedEvent: Sendable {
  enum Moment: Sendable {
    case input(String)
    case finished(operation: String)
    case gave(operation: String, action: String)
  }

  /// What it is counted as.
  public let name: String
  let moment: Moment

  /// Somebody wants something: an input came.
  ///
  /// - Parameters:
  ///   - name: What it is counted as.
  ///   - input: The input's case.
  public static func intent(_ name: String, input: String) -> TrackedEvent {
    TrackedEvent(name: name, moment: .input(input))
  }

  /// It has been done: an operation has finished, and has not failed.
  public static func outcome(_ name: String, operation: String) -> TrackedEvent {
    TrackedEvent(name: name, moment: .finished(operation: operation))
  }

  /// It has been done as far as anybody waits for it: an operation gave an action of this case, for
  /// the first time. For work that then goes on as a feed.
  public static func outcome(
    _ name: String, operation: String, action: String
  ) -> TrackedEvent {
    TrackedEvent(name: name, moment: .gave(operation: operation, action: action))
  }
}

extension Hook {
  /// Counts events, each once for one input or one operation, by name alone.
  ///
  /// ```swift
  /// .tracking(
  ///   .intent("todoAddTapped", input: "todoAdded"), .outcome("todoAdded", operation: "addTodo")
  /// ) { await analytics.count($0) }
  /// ```
  ///
  /// - Parameters:
  ///   - events: What to count; no two have one name.
  ///   - track: Takes the name of an event that has happened.
  ///   - failed: Takes what `track` throws.
  public static func tracking(
    _ events: TrackedEvent...,
    to track: @escaping @Sendable (String) async throws -> Void,
    failed: @escaping @Sendable (any Error) -> Void = { _ in }
  ) -> Hook {
    precondition(
      Set(events.map { ByteString($0.name) }).count == events.count,
      "two events of one name could not be told apart")
    return perStore { tracking(events, track, failed) }
  }

  private static func tracking(
    _ events: [TrackedEvent], _ track: @escaping @Sendable (String) async throws -> Void,
    _ failed: @escaping @Sendable (any Error) -> Void
  ) -> Hook {
    // The events that running operations have been counted for.
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
          guard case .gave(operation.name, name) = event.moment,
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
