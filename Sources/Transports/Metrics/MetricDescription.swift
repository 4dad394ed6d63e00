// SPDX-License-Identifier: Apache-2.0

/// A metric of the server: its name, type, labels and meaning.
///
/// The names follow the conventions of Prometheus: base units, and `_total` for counters. The number
/// of values of each label is bounded, and none of them contains anything that a client has sent.
public struct MetricDescription: Sendable, Hashable {
  /// The type of a metric.
  public enum Kind: String, Sendable {
    /// A number that only grows while the process runs.
    case counter
    /// A number that grows and falls.
    case gauge
    /// Numbers of durations by their upper bounds, in seconds.
    case histogram
  }

  /// The name in the Prometheus format, for example `statewire_connections`.
  public let name: String
  /// The type: counter, gauge or histogram.
  public let kind: Kind
  /// The names of the labels.
  public let labels: [String]
  /// The meaning, in one sentence.
  public let help: String

  init(_ name: String, _ kind: Kind, _ labels: [String], _ help: String) {
    (self.name, self.kind, self.labels, self.help) = (name, kind, labels, help)
  }

  init(_ name: String, _ kind: Kind, _ help: String) { self.init(name, kind, [], help) }
}

extension MetricDescription {
  /// All metrics, in the order in which a server writes them.
  public static var all: [MetricDescription] {
    [
      buildInfo, ready, connections, openedConnections, receivedBytes, sentBytes, sessions, stores,
      inputs, updates, updatesSent, updatesCoalesced, errors, exceeded, effectsRunning,
      effectsStarted, effectsFailed, turns, journalWaitingTurns, journalWaitingBytes,
      journalCommittedTurns, journalCommittedBytes, journalFailedTurns, journalTransactions,
      processStart, processCPU, processResident, processVirtual, processDescriptors,
      processMaximumDescriptors,
    ]
  }

  static let buildInfo = MetricDescription(
    "statewire_build_info", .gauge, ["program", "version"],
    "The program and its version; the value is always 1.")
  static let ready = MetricDescription(
    "statewire_ready", .gauge, "1 if the server is ready for new clients, otherwise 0.")
  static let connections = MetricDescription(
    "statewire_connections", .gauge, ["transport"], "Open connections of clients.")
  static let openedConnections = MetricDescription(
    "statewire_connections_opened_total", .counter, ["transport"],
    "Connections of clients that were accepted.")
  static let receivedBytes = MetricDescription(
    "statewire_received_bytes_total", .counter, ["transport"],
    "Bytes that clients have sent, without TLS.")
  static let sentBytes = MetricDescription(
    "statewire_sent_bytes_total", .counter, ["transport"],
    "Bytes for clients, without TLS.")
  static let sessions = MetricDescription(
    "statewire_sessions", .gauge, "Sessions with a handle that are in memory.")
  static let stores = MetricDescription(
    "statewire_stores", .gauge, ["kind"], "Open stores that are in memory.")
  static let inputs = MetricDescription(
    "statewire_inputs_total", .counter, ["kind"],
    "Inputs that were applied; repeated and refused ones do not count.")
  static let updates = MetricDescription(
    "statewire_updates_total", .counter, ["kind"],
    "Changes of view states that a client or the history of a session needs.")
  static let updatesSent = MetricDescription(
    "statewire_updates_sent_total", .counter, "Notifications store/changed for clients.")
  static let updatesCoalesced = MetricDescription(
    "statewire_updates_coalesced_total", .counter,
    "Updates that were coalesced, for slow consumers and for large states.")
  static let errors = MetricDescription(
    "statewire_errors_total", .counter, ["error"], "Errors that clients have received.")
  static let exceeded = MetricDescription(
    "statewire_limits_exceeded_total", .counter, ["limit"],
    "Requests and connections that were refused, or ended, because of a limit.")
  static let effectsRunning = MetricDescription(
    "statewire_effects_running", .gauge, "Effects of stores that have not ended, including feeds.")
  static let effectsStarted = MetricDescription(
    "statewire_effects_started_total", .counter, "Effects of stores that were started.")
  static let effectsFailed = MetricDescription(
    "statewire_effects_failed_total", .counter,
    "Effects of stores that have given the action of their failure.")
  static let turns = MetricDescription(
    "statewire_turn_duration_seconds", .histogram, ["shard"],
    "Durations of the turns of event loops, with the writes to clients.")
  static let journalWaitingTurns = MetricDescription(
    "statewire_journal_waiting_turns", .gauge, "Turns that wait for their commit.")
  static let journalWaitingBytes = MetricDescription(
    "statewire_journal_waiting_bytes", .gauge,
    "Approximate size of the journal entries that wait for their commit.")
  static let journalCommittedTurns = MetricDescription(
    "statewire_journal_committed_turns_total", .counter, "Turns that were committed.")
  static let journalCommittedBytes = MetricDescription(
    "statewire_journal_committed_bytes_total", .counter,
    "Approximate size of the journal entries that were committed.")
  static let journalFailedTurns = MetricDescription(
    "statewire_journal_failed_turns_total", .counter, "Turns that could not be committed.")
  static let journalTransactions = MetricDescription(
    "statewire_journal_transaction_duration_seconds", .histogram,
    "Durations of journal transactions; the turns that wait share one.")
  static let processStart = MetricDescription(
    "process_start_time_seconds", .gauge, "Start of the process, in seconds since 1970.")
  static let processCPU = MetricDescription(
    "process_cpu_seconds_total", .counter, "Processor time of the process.")
  static let processResident = MetricDescription(
    "process_resident_memory_bytes", .gauge, "Resident memory of the process.")
  static let processVirtual = MetricDescription(
    "process_virtual_memory_bytes", .gauge, "Virtual memory of the process.")
  static let processDescriptors = MetricDescription(
    "process_open_fds", .gauge, "Open file descriptors of the process.")
  static let processMaximumDescriptors = MetricDescription(
    "process_max_fds", .gauge, "Maximum number of open file descriptors.")
}
