// SPDX-License-Identifier: Apache-2.0

import Sessions
import StateMachines
import StatewireJSON

// The examples of docs/effects.md. A block of that document stands here, or in a test, letter by
// letter.

/// A service that stores notes.
protocol NoteService: Sendable {
  func load() async -> String?
  func save(_ text: String) async -> Bool
  func search(_ query: String) async -> [String]
  func upload(_ text: String, operation: String) async -> Bool
  func share(_ text: String) async throws
  var changes: AsyncStream<String> { get }
}

/// One note, and what can be done with it.
struct Notes: StateMachine {
  enum Input: Codable, Sendable {
    case loadTapped, stopTapped, reloadTapped, cachedLoadTapped, saveTapped, uploadTapped, saved
    case followTapped, unfollowTapped, followed, clockShown, clockHidden, cleared, stamped
    case titleTapped, previewTapped, hidden, shareTapped, printTapped
    case autosaved, bothUploaded, retryTapped
    case queued(text: String)
    case typed(text: String)
    case pasted(text: String)
    case queryTyped(text: String)
    case scrolled(line: Int)
    case reminderSet(seconds: Int)
    case renamed(title: String)
  }

  enum Action: Equatable, Sendable {
    case loading, failed, stopped, saved, timedOut, uploaded, cleared, reminded, ticked, hidden,
      shared
    case loaded(text: String)
    case typed(text: String)
    case found(lines: [String])
    case scrolled(line: Int)
    case stamped(seconds: Int64)
    case retrying(attempt: Int)
    case titled(String)
  }

  enum Event: Codable, Sendable { case saved }

  struct State: Codable, Sendable {
    var text = ""
    var status = "idle"
    var lines: [String] = []
    var line = 0
    var ticks = 0
    var title = ""
    var isHidden = false
  }

  let initialState = State()
  let service: any NoteService
  let cache = ExpiringCache<String, Action>()
  var began: @Sendable () -> Void = {}

  // MARK: - Effects

  func effect(of input: Input, in state: State) -> Effect<Action> {
    switch input {
    case .cleared:
      state.text.isEmpty ? .none : .action(.cleared)

    case .loadTapped:
      .several(.action(.loading), load)

    case .shareTapped:
      .run("share", failing: .failed) { [service, text = state.text] context in
        try await service.share(text)
        await context.send(.shared)
      }

    case .printTapped:
      .run("print", failing: Self.unprinted) { [service, text = state.text] context in
        try await service.share(text)
        await context.send(.shared)
      }

    case .stopTapped:
      .cancel("load")

    case .reloadTapped:
      load.cancellable("load").onCancel(.stopped)

    case .queryTyped(let query):
      search(query).latest("search")

    case .queued(let text):
      save(text).serial("saves")

    case .autosaved:
      withState { save($0.text) }.debounced("autosave", for: .seconds(1))

    case .bothUploaded:
      .several(upload(state.title), upload(state.text))

    case .retryTapped:
      load.retried(
        attempts: 5, backoff: .exponential(base: .milliseconds(100), maximum: .seconds(2)),
        when: { $0 == .failed })

    case .reminderSet(let seconds):
      .after(.seconds(seconds), .action(.reminded))

    case .typed(let text):
      .several(.action(.typed(text: text)), save(text).debounced("save", for: .seconds(1)))

    case .pasted(let text):
      save(text).debounced("paste", for: .seconds(1), firstImmediately: true)

    case .scrolled(let line):
      .action(.scrolled(line: line)).throttled("scroll", for: .seconds(1), keeping: .latest)

    case .saved:
      .action(.saved).throttled("saved", for: .seconds(1), keeping: .first)

    case .clockShown:
      .ticks("clock", every: .seconds(1)) { .ticked }.unlessRunning()

    case .clockHidden:
      .cancel("clock")

    case .followTapped:
      .merge("changes", service.changes) { text in
        text.isEmpty ? nil : .loaded(text: text)
      }.latest("changes")

    case .unfollowTapped:
      .cancel("changes")

    case .followed:
      .run("follow") { [service] context in
        guard let text = await service.load() else { return await context.send(.failed) }
        await context.becomeFeed(sending: .loaded(text: text))
        for await text in service.changes { await context.send(.loaded(text: text)) }
      }
      .refreshing("follow")

    case .stamped:
      .deferred { clock in .action(.stamped(seconds: clock.sinceEpoch.components.seconds)) }

    case .uploadTapped:
      .identified { [service, text = state.text] operation in
        .run("upload") { context in
          let isUploaded = await service.upload(text, operation: operation?.description ?? "")
          await context.send(isUploaded ? .uploaded : .failed)
        }
      }

    case .saveTapped:
      save(state.text)
        .timeout(after: .seconds(5), .timedOut)
        .retried(
          attempts: 3, when: { $0 == .failed || $0 == .timedOut },
          waiting: { next in .retrying(attempt: next) })

    case .cachedLoadTapped:
      load.cached(in: cache, key: "note", for: .seconds(60)) { $0 != .failed }

    case .titleTapped:
      Effect<Title>.run("title") { context in await context.send(.changed(to: "Note")) }
        .compactMap { change in
          switch change {
          case .changed(let title): .titled(title)
          }
        }

    case .renamed(let title):
      .run("rename") { [service] context in
        if await service.search(title).isEmpty {
          await context.send(.titled(title))
        } else {
          await context.refuse(
            InputRefusal(.value, "another note has this title", member: "title"),
            otherwise: .failed)
        }
      }

    case .previewTapped:
      .several(
        .feed("preview") { context in
          while (try? await context.sleep(for: .seconds(2))) != nil { await context.send(.ticked) }
        }.latest("preview"),
        load.cancellingWithInput("preview").onBegin(began))

    case .hidden:
      .action(.hidden).operation("hide", failing: .failed)
    }
  }

  @Sendable private static func unprinted(_ error: any Error) -> Action { .titled("\(error)") }

  private var load: Effect<Action> {
    .run("load") { [service] context in
      if let text = await service.load() {
        await context.send(.loaded(text: text))
      } else {
        await context.send(.failed)
      }
    }
  }

  private func save(_ text: String) -> Effect<Action> {
    .run("save") { [service] context in
      let isSaved = await context.operation("write", failing: false, when: { !$0 }) {
        await service.save(text)
      }
      await context.send(isSaved ? .saved : .failed)
    }
    .operation("save", failing: .failed)
  }

  private func upload(_ text: String) -> Effect<Action> {
    .identified(part: "upload") { [service] id in
      .run("upload") { context in
        let isUploaded = await service.upload(text, operation: id ?? "")
        await context.send(isUploaded ? .uploaded : .failed)
      }
    }
  }

  private func search(_ query: String) -> Effect<Action> {
    .run("search") { [service] context in
      await context.send(.found(lines: await service.search(query)))
    }
  }

  /// The action of another machine.
  enum Title: Sendable { case changed(to: String) }

  // MARK: - States

  func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .cleared: state.text = ""
    case .loading, .failed, .stopped, .timedOut, .uploaded, .reminded, .shared:
      state.status = "\(action)"
    case .saved: state.status = "saved"
    case .loaded(let text): (state.text, state.status) = (text, "loaded")
    case .typed(let text): state.text = text
    case .found(let lines): state.lines = lines
    case .scrolled(let line): state.line = line
    case .ticked: state.ticks += 1
    case .stamped(let seconds): state.status = "\(seconds)"
    case .retrying(let attempt): state.status = "attempt \(attempt)"
    case .titled(let title): state.title = title
    case .hidden: (state.text, state.isHidden) = ("", true)
    }
  }

  // MARK: - Refusals, redaction and restarts

  var initialEffect: Effect<Action> {
    .merge("news", service.changes) { text in .loaded(text: text) }
  }

  func event(of action: Action, in state: State) -> Event? {
    action == .saved ? .saved : nil
  }

  func input(for phase: LifecyclePhase) -> Input? {
    switch phase {
    case .active: .reloadTapped
    case .inactive: .hidden
    }
  }

  func refusal(of input: Input, in state: State) -> InputRefusal? {
    guard case .typed(let text) = input, text.utf8.count > 1_000 else { return nil }
    return InputRefusal(.limit("noteBytes"), "a note has at most 1000 bytes", member: "text")
  }

  func isRedaction(_ action: Action) -> Bool { action == .hidden }
}

extension Notes: DurableMachine {
  func restart(of input: Input, in state: State, after elapsed: Duration) -> Effect<Action> {
    switch input {
    case .reminderSet(let seconds):
      .after(max(.zero, .seconds(seconds) - elapsed), .action(.reminded))
    case .loadTapped, .reloadTapped, .queryTyped, .uploadTapped:
      effect(of: input, in: state)
    default:
      .action(.failed)
    }
  }

  var resumesForFrontends: Bool { true }

  func interruption(in state: State) -> Action? {
    state.status == "loading" ? .stopped : nil
  }
}

// MARK: - Hooks

extension Notes {
  /// A kind whose stores are observed.
  static func kind(
    _ service: any NoteService, log: @escaping @Sendable (String) -> Void,
    keep: @escaping @Sendable (State) async throws -> Void
  ) -> StoreKind {
    StoreKind(
      "notes",
      hooks: [
        .debugPrint(to: log),
        .handleOutput { operation, action in log("\(operation.name): \(action)") },
        .handleError { operation, action in log("\(operation.name) failed: \(action)") },
        .tracking(
          .intent("saveTapped", input: "saveTapped"), .outcome("saved", operation: "save")
        ) { name in log(name) },
        .process(
          start: { operation in ContinuousClock.now },
          stop: { began, end in log("\(end) after \(began.duration(to: .now))") }),
        .persisting(keep),
      ]
    ) { Notes(service: service) }
  }

  /// A hook that sees inputs alone.
  static func audit(_ log: @escaping @Sendable (String) -> Void) -> Hook<Notes> {
    Hook(
      stages: [.input],
      receiveRequest: { _, input in
        if case .uploadTapped = input { log("upload") }
      })
  }

  /// A hook that keeps a time for each store.
  static func times(_ log: @escaping @Sendable (String) -> Void) -> Hook<Notes> {
    .perStore {
      let start = ContinuousClock.now
      return Hook(
        stages: [.input],
        receiveRequest: { _, _ in log("an input after \(start.duration(to: .now))") })
    }
  }
}
