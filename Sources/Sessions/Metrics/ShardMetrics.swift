// SPDX-License-Identifier: Apache-2.0

public import StateMachines
internal import StatewireJSON
public import StatewireProtocol

/// The metrics of one shard. The thread of the shard changes them, and any thread reads them.
///
/// They count what the shard does, and nothing of what clients send: their labels are names of store
/// kinds, limits and errors.
public final class ShardMetrics: Sendable {
  /// The metrics of stores, by kind; the last ones are those of all other kinds.
  public let kinds: [KindMetrics]
  /// The counts of effects.
  public let effects = EffectCounts()
  /// Number of `store/changed` notifications for clients.
  public let updatesSent = MetricValue()
  /// Number of updates that were coalesced, for slow consumers and for large states.
  public let updatesCoalesced = MetricValue()
  /// Number of times that a limit was exceeded, by the name of the limit.
  public let exceeded = LimitName.allCases.map { ($0.rawValue, MetricValue()) }
  /// Number of errors for clients, by the name of the error.
  public let errors = RPCErrorCode.described.map { ($0.name, MetricValue()) }
  /// The durations of turns, with the delivery to clients; nil if they are not measured.
  public let turns: DurationHistogram?

  private let kindPlaces: [ByteString: Int]
  private let limitPlaces: [String: Int]
  private let errorPlaces: [Int: Int]

  /// The number of kinds with metrics of their own. More kinds have their metrics together.
  static let maximumKinds = 40

  /// Creates metrics that are 0.
  ///
  /// - Parameters:
  ///   - kinds: The store kinds.
  ///   - measuresTurns: True to measure the durations of turns, which reads a clock twice a turn.
  init(of kinds: [StoreKind], measuresTurns: Bool) {
    var names: [String] = []
    var places: [ByteString: Int] = [:]
    for kind in kinds where places[ByteString(kind.name)] == nil {
      guard names.count < Self.maximumKinds else { break }
      places[ByteString(kind.name)] = names.count
      names.append(kind.name)
    }
    self.kinds = names.map { KindMetrics($0) } + [KindMetrics(nil)]
    kindPlaces = places
    limitPlaces = Self.places(LimitName.allCases.map(\.rawValue))
    errorPlaces = Self.places(RPCErrorCode.described.map(\.code.rawValue))
    turns = measuresTurns ? DurationHistogram(Self.turnBounds) : nil
  }

  private static func places<Key: Hashable>(_ keys: [Key]) -> [Key: Int] {
    Dictionary(zip(keys, keys.indices)) { first, _ in first }
  }

  // A turn ends after 4 ms, unless a single message takes longer.
  private static let turnBounds: [Duration] = [
    .microseconds(10), .microseconds(30), .microseconds(100), .microseconds(300),
    .milliseconds(1), .milliseconds(2), .milliseconds(4), .milliseconds(8), .milliseconds(20),
    .milliseconds(100), .seconds(1),
  ]

  /// Returns the metrics of stores of a kind.
  func kind(_ name: String) -> KindMetrics {
    kinds[kindPlaces[ByteString(name)] ?? kinds.count - 1]
  }

  /// Counts an error for a client, and the limit that was exceeded.
  public func count(_ error: RPCError) {
    if let place = errorPlaces[error.code.rawValue] { errors[place].1.add() }
    guard error.code == .limit, case .object(let data)? = error.data,
      case .string(let limit)? = data["limit"], let place = limitPlaces[limit]
    else { return }
    exceeded[place].1.add()
  }

  /// Counts that a limit was exceeded by a client that receives no error.
  public func count(_ limit: LimitName) {
    if let place = limitPlaces[limit.rawValue] { exceeded[place].1.add() }
  }
}

/// The metrics of the stores of one kind on one shard.
public final class KindMetrics: Sendable {
  /// The name of the kind; nil for all kinds without metrics of their own.
  public let name: String?
  /// Number of open stores.
  public let stores = MetricValue()
  /// Number of inputs that were applied.
  public let inputs = MetricValue()
  /// Number of changes of view states that were published.
  public let updates = MetricValue()

  init(_ name: String?) { self.name = name }
}
