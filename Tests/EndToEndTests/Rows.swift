// SPDX-License-Identifier: Apache-2.0

import Testing

/// One required behaviour of a store, and the conversation or test that shows it.
///
/// The table is ordered by stores, and for each store by configuration, states and inputs. A row
/// that a conversation shows has the marker `# [id]` there, directly above the lines that play it.
struct Row: CustomTestStringConvertible {
  enum Place {
    /// The name of a file in `Protocol/Conversations`, without its extension.
    case conversation(String)
    /// Behaviour that is not visible on the wire: the name of a file in `Tests`, and the name of a
    /// test in it.
    case test(file: String, sentence: String)
  }

  let id: String
  let says: String
  let place: Place

  init(_ id: String, _ says: String, in conversation: String) {
    self.init(id: id, says: says, place: .conversation(conversation))
  }

  init(_ id: String, _ says: String, by file: String, _ sentence: String) {
    self.init(id: id, says: says, place: .test(file: file, sentence: sentence))
  }

  private init(id: String, says: String, place: Place) {
    self.id = id
    self.says = says
    self.place = place
  }

  var testDescription: String { "\(id): \(says)" }
}

extension Row {
  static let all: [Row] = [
    rules, todo, addTodo, form, balance, loading, loaders, lifecycle, trace,
  ].flatMap { $0 }

  // MARK: - All stores

  static let rules: [Row] = [
    Row("rule.action.none", "an input may become no action", in: "rules"),
    Row("rule.action.one", "an input may become one action", in: "rules"),
    Row("rule.action.several", "an input may become several actions, each a state", in: "rules"),
    Row("rule.action.later", "an action may come later than its input", in: "rules"),
    Row(
      "rule.action.failure", "a failure is an action, and the store continues after it", in: "rules"
    ),
    Row(
      "rule.subscribe.current", "a subscriber receives the current state immediately", in: "rules"),
    Row("rule.subscribe.later", "a subscriber receives each later state", in: "rules"),
    Row(
      "rule.listeners", "a store can have any number of subscribers", by: "SubscriptionTests",
      "several clients receive the same updates, each with its own last request"),
    Row("rule.unsubscribe.work-continues", "unsubscribing cancels no work", in: "rules"),
    Row(
      "rule.update.after-write",
      "a state that is read after an update is that of the update, or newer", in: "rules"),
    Row(
      "rule.update.one-per-action", "one action gives one update, however much it changes",
      in: "rules"),
    Row("rule.update.none-if-equal", "an equal state gives no update and no revision", in: "rules"),
    Row("rule.update.bytes", "texts are compared by their bytes", in: "rules"),
    Row("rule.update.error-equal", "errors with the same code and message are equal", in: "rules"),
    Row("rule.update.error-message", "errors with different messages differ", in: "rules"),
    Row("rule.update.error-code", "errors with different codes differ", in: "rules"),
    Row(
      "rule.changed.back", "an input whose actions restore the state has not changed it",
      in: "rules"),
    Row(
      "rule.changed.back-later", "an input whose effects restore the state has not changed it",
      in: "rules"),
    Row(
      "rule.settle.revision", "a response has the current revision, also of a replaced load",
      in: "todo-lists-failures"),
    Row(
      "rule.applied.attach",
      "a client that attaches again to the same session keeps its last request",
      in: "sharing"),
    Row("rule.session.order", "inputs of one session are folded in their order", in: "rules"),
    Row("rule.session.independent", "sessions do not wait for each other", in: "sessions"),
    Row(
      "rule.reentrancy", "an input that is sent during a publication waits for its turn",
      by: "StoreTests",
      "an input that is sent from inside a publication is queued and folded right after it"),
    Row(
      "rule.hook.reentrancy", "an input that is sent by a hook waits for its turn", by: "HookTests",
      "a hook may send inputs, which are processed in order"),
    Row("rule.input.early", "a store accepts inputs from its creation", in: "rules"),
    Row(
      "rule.completion-order", "effects run immediately, and are folded in the order of their ends",
      in: "todo-failures"),
    Row(
      "rule.generation.todo", "of several loads of a list, only the newest takes effect",
      in: "todo-failures"),
    Row(
      "rule.generation.balance", "of several refreshes, only the newest takes effect",
      in: "balance-states"),
    Row(
      "rule.generation.loader", "of several loads of a loader, only the newest takes effect",
      in: "loading"),
    Row(
      "rule.adds-never-dropped", "adds and removes are never dropped because of newer ones",
      in: "todo-failures"),
    Row(
      "rule.input.ignored",
      "an input without a meaning in a state is accepted, and changes nothing",
      in: "rules"),
    Row(
      "rule.refused.unknown-type", "an input of an unknown type is refused with its path",
      in: "form"),
    Row("rule.refused.no-type", "an input without a type is refused", in: "form"),
    Row("rule.refused.missing-member", "an input without a required member is refused", in: "form"),
    Row(
      "rule.refused.wrong-type", "an input with a member of the wrong type is refused", in: "form"),
    Row("rule.refused.nothing-changed", "a refused input changes nothing", in: "form"),
    Row("rule.input.extra-members", "unknown members of an input are ignored", in: "todo"),
    Row("rule.close.cancels", "closing a store cancels its work", in: "todo-failures"),
    Row(
      "rule.close.later-inputs", "an input to a closed store gets an error that states this",
      in: "todo-failures"),
    Row("rule.error.shape", "an error in a state has a code and a message", in: "rules"),
    Row(
      "rule.error.own-words", "the text of an error is the server's, whatever has failed",
      by: "LoadingTableTests", "an unknown error of a source is shown as `source.failed`"),
    Row("rule.wire.type", "a state of several shapes names its shape in `type`", in: "todo"),
    Row("rule.wire.absent", "an absent value is null", in: "balance"),
    Row("rule.wire.ids", "ids are strings", in: "todo"),
    Row(
      "rule.texts.codes", "each text has a stable code", by: "FormRuleTests",
      "each rule has its own code"),
  ]

  // MARK: - The todo list

  static let todo: [Row] = [
    Row("todo.initial", "the first state is loading", in: "todo-states"),
    Row(
      "todo.stateRequested.loading",
      "in loading, a load gives the content without a second loading",
      in: "todo-states"),
    Row(
      "todo.stateRequested.content",
      "in content, the list stays visible during a load", in: "todo-stream"),
    Row("todo.stateRequested.error", "in error, a load shows loading first", in: "todo-states"),
    Row(
      "todo.stateRequested.failed", "a failed load gives the error with its code and message",
      in: "todo-failures"),
    Row("todo.todoAdded", "an added todo has an id and is not completed", in: "todo"),
    Row("todo.todoAdded.id", "an add may contain the id of the todo", in: "todo-ids"),
    Row("todo.todoAdded.id.present", "an add with an existing id changes nothing", in: "todo-ids"),
    Row("todo.todoAdded.id.length", "an id has 1 to 64 bytes", in: "todo-ids"),
    Row("todo.todoAdded.failed", "a failed add gives the error", in: "todo-failures"),
    Row("todo.todoRemoved", "a removed todo disappears", in: "todo"),
    Row("todo.todoRemoved.failed", "a failed remove gives the error", in: "todo-failures"),
    Row("todo.todosUpdated", "a client cannot send an internal input", in: "todo"),
    Row(
      "todo.todosUpdated.inside", "the server can set the content with an internal input",
      by: "TodoStoreTests",
      "`todosUpdated` is refused from a frontend and accepted from inside the process"),
    Row("todo.loading.setState.content", "from loading to content", in: "todo-states"),
    Row("todo.loading.setState.error", "from loading to error", in: "todo-states"),
    Row("todo.content.setState.content", "from content to equal content: no update", in: "todo"),
    Row("todo.content.setState.error", "from content to error", in: "todo-states"),
    Row("todo.error.setState.loading", "from error to loading", in: "todo-states"),
    Row("todo.error.setState.error", "from error to the same error: no update", in: "todo-states"),
    Row("todo.content.addTodo", "in content, an added todo is appended", in: "todo-states"),
    Row(
      "todo.content.removeTodo", "in content, each todo with the id is removed",
      by: "TodoStoreTests",
      "each change is applied to the todos"),
    Row(
      "todo.content.removeTodo.unknown", "a remove with an unknown id gives no update", in: "todo"),
    Row("todo.loading.addTodo", "in loading, an add changes nothing visible", in: "todo-states"),
    Row(
      "todo.loading.removeTodo", "in loading, a remove changes nothing visible", in: "todo-states"),
    Row("todo.error.addTodo", "in error, an add changes nothing visible", in: "todo-states"),
    Row("todo.error.removeTodo", "in error, a remove changes nothing visible", in: "todo-states"),
    Row("todo.todoRenamed", "a renamed todo has the new title", in: "todo"),
    Row("todo.todoCompleted", "a completed todo is marked as completed", in: "todo"),
    Row("todo.todoReopened", "a reopened todo is not marked as completed", in: "todo"),
    Row("todo.todoMoved.before", "a todo can move before another todo", in: "todo"),
    Row("todo.todoMoved.end", "a todo that moves before nothing is the last one", in: "todo"),
    Row("todo.todoRenamed.failed", "a failed rename gives the error", in: "todo-failures"),
    Row("todo.todoCompleted.failed", "a failed completion gives the error", in: "todo-failures"),
    Row("todo.todoReopened.failed", "a failed reopening gives the error", in: "todo-failures"),
    Row("todo.todoMoved.failed", "a failed move gives the error", in: "todo-failures"),
    Row(
      "todo.content.unknown-ids", "inputs with unknown ids change nothing",
      in: "todo-states"),
    Row("todo.content.equal", "a change without effect gives no update", in: "todo-states"),
    Row(
      "todo.loading.others", "in loading, other changes are not visible either", in: "todo-states"),
    Row("todo.error.others", "in error, other changes are not visible either", in: "todo-states"),
    Row("todo.list.named", "a list has a name", in: "todo-lists-states"),
    Row(
      "todo.list.default", "without a configuration, the name of the list is `default`",
      in: "todo-lists-states"),
    Row("todo.list.shared", "all sessions share a list with a name", in: "shared-list"),
    Row("todo.memory.begins", "a list in memory begins with the todos 1 to N", in: "todo-states"),
    Row("todo.memory.private", "a list in memory is private to its store", in: "todo-states"),
    Row("todo.memory.later-ids", "later ids continue the numbering", in: "todo-states"),
    Row("todo.memory.at-once", "a list in memory is available before the response", in: "todo"),
    Row(
      "todo.configuration.refused", "an invalid configuration is refused with its path",
      in: "todo-lists-states"),
    Row(
      "todo.stateRequested.cancelled", "a first load that is cancelled gives the error",
      in: "todo-lists-failures"),
    Row(
      "todo.stateRequested.superseded", "a first load that is replaced leaves the state at loading",
      in: "todo-lists-failures"),
    Row("todo.recovers", "after an error, a load gives the content again", in: "todo-failures"),
    Row(
      "todo.stream.list-once", "the list is sent once, with all earlier changes",
      in: "todo-stream"),
    Row(
      "todo.stream.own-before-response", "a client's own change is sent before the response",
      in: "todo-stream"),
    Row(
      "todo.stream.order",
      "changes are sent in the order of their commits, whichever store makes them",
      by: "SharedTodoFeedTests",
      "all stores receive the changes in one order, whichever store makes them"
    ),
    Row(
      "todo.stream.starts", "nothing of the list is sent before the first load", in: "todo-stream"),
    Row(
      "todo.stream.small-difference", "a change of another session is sent as a small difference",
      in: "todo-stream"),
    Row(
      "todo.stream.other-process", "a change of another process is sent as a small difference",
      by: "SharingTests",
      "a process notices changes by another at its next poll, as single changes"),
    Row(
      "todo.stream.nothing-twice", "no todo is shown twice, or disappears and returns",
      in: "todo-stream"),
    Row("todo.stream.add-while-loading", "an add during a load is not lost", in: "todo-stream"),
    Row("todo.title.empty", "a title that contains only white space is refused", in: "todo-states"),
    Row("todo.title.bytes", "a title may have 4,096 bytes", in: "todo-states"),
    Row("todo.title.too-long", "a title with 4,097 bytes is refused", in: "todo-states"),
    Row("todo.title.nothing-changed", "a refused title is added to no list", in: "todo-states"),
    Row("todo.title.kept", "the white space around a title is kept", in: "todo-states"),
    Row(
      "todo.database", "a list persists after the process has ended", by: "ProcessTests",
      "the program keeps a list from one process to the next"),
    Row(
      "todo.database.failed", "failures of the database have the same effects",
      in: "todo-lists-failures"),
  ]

  // MARK: - The form that adds a todo

  static let addTodo: [Row] = [
    Row(
      "addTodo.initial", "in the first state, nothing is valid, loading or to be dismissed",
      in: "todo-failures"),
    Row(
      "addTodo.validate.empty", "a title that contains only white space is not valid",
      in: "todo-failures"),
    Row("addTodo.validate", "any other title is valid", in: "todo-failures"),
    Row(
      "addTodo.loading-first", "the form is loading while the todo is added", in: "todo-failures"),
    Row(
      "addTodo.success", "the dismissal and the end of loading are one change",
      in: "todo-failures"),
    Row(
      "addTodo.failure", "after a failure, the form is not loading, and is not dismissed",
      in: "todo-failures"),
    Row(
      "addTodo.validate.clears-dismiss", "a later change of the title revokes the dismissal",
      in: "todo-failures"),
    Row("addTodo.refused", "an empty title is not added", in: "todo-failures"),
  ]

  // MARK: - The form

  static let form: [Row] = [
    Row(
      "form.firstEntryChanged", "the first entry and its messages change together",
      in: "form-rules"),
    Row(
      "form.secondEntryChanged", "the second entry and its messages change together",
      in: "form-rules"),
    Row("form.entriesChanged", "both entries change together", in: "form"),
    Row("form.initial", "the first state is validated", in: "form-rules"),
    Row("form.empty-empty", "both empty: too short", in: "form-rules"),
    Row(
      "form.abcde-empty", "different and too short: both messages, first that they differ",
      in: "form-rules"
    ),
    Row("form.abcd-abcd", "equal and too short: one message", in: "form-rules"),
    Row("form.abcde-abcdf", "different and long enough: one message", in: "form-rules"),
    Row(
      "form.abcde-abcde", "equal and long enough: no message, may be submitted", in: "form-rules"),
    Row("form.five-spaces", "five spaces are five characters", in: "form-rules"),
    Row(
      "form.both-short-and-different", "each message is shown at most once", in: "form-rules"),
    Row("form.first-short", "the first entry alone may be too short", in: "form-rules"),
    Row("form.second-short", "the second entry alone may be too short", in: "form-rules"),
    Row("form.four-thumbs", "four thumbs are four characters", in: "form-rules"),
    Row(
      "form.five-thumbs", "five thumbs are five characters, whatever they consist of",
      in: "form-rules"),
    Row("form.white-space", "white space around an entry counts", in: "form-rules"),
    Row("form.canonical", "composed and decomposed letters are equal", in: "form-rules"),
    Row("form.bytes", "composed and decomposed letters are a change on the wire", in: "form"),
    Row(
      "form.validated-once", "each change is followed by one validation",
      by: "FormStoreTests",
      "the form validates once per change, after the new entries are set, and not on submission"),
    Row("form.submit.allowed", "an allowed submission gives one event", in: "form-rules"),
    Row(
      "form.submit.not-allowed",
      "a submission that is not allowed gives no event, and is not an error", in: "form-rules"),
    Row("form.submit.no-state", "a submission changes no state", in: "form"),
    Row("form.submit.once", "an event is sent only once", in: "form-rules"),
    Row("form.refused.not-quoted", "an error does not quote the entry", in: "form-rules"),
    Row(
      "form.secret", "no printed text contains an entry", by: "FormStoreTests",
      "no description, reflection or dump of inputs, actions and states contains the entries"),
  ]

  // MARK: - The balance

  static let balance: [Row] = [
    Row("balance.viewDidAppear", "an appearing view refreshes the balance", in: "balance-states"),
    Row(
      "balance.refreshButtonWasTapped", "a tapped button refreshes the balance",
      in: "balance-states"),
    Row("balance.willResignActive", "an inactive frontend hides the amount", in: "balance-states"),
    Row(
      "balance.didBecomeActive", "an active frontend shows the amount again", in: "balance-states"),
    Row(
      "balance.refresh.one-change",
      "the start of a refresh and the end of the failure are one change",
      in: "balance-states"),
    Row(
      "balance.success", "the response and the end of the refresh are one change",
      in: "balance-states"),
    Row(
      "balance.failure", "the failure and the end of the refresh are one change",
      in: "balance-states"),
    Row(
      "balance.failure.keeps-response", "a failure keeps the last response", in: "balance-states"),
    Row(
      "balance.never-responds", "without a response of the service, the refresh does not end",
      in: "balance-states"),
    Row(
      "balance.cancelled", "cancelling ends the refresh, and is not a failure", in: "balance-states"
    ),
    Row("balance.no-response", "without a response the amount is --", in: "balance-states"),
    Row(
      "balance.two-decimals", "an amount has its currency and two decimals", in: "balance-states"),
    Row(
      "balance.amounts", "amounts can be large, negative and rounded", by: "BalanceStoreTests",
      "amounts are US dollars with two decimals, rounded half to even"),
    Row("balance.never-synced.idle", "never synced, idle: no text", in: "balance-states"),
    Row(
      "balance.never-synced.refreshing", "never synced, refreshing: Loading...",
      in: "balance-states"),
    Row(
      "balance.never-synced.failed",
      "never synced, failed: Failed to update., in the color of failure", in: "balance-states"),
    Row("balance.synced.idle", "synced, idle: the last update", in: "balance-states"),
    Row(
      "balance.synced.refreshing", "synced, refreshing: Loading..., then the last update",
      in: "balance-states"),
    Row(
      "balance.synced.failed", "synced, failed: Failed to update., then the last update",
      in: "balance-states"),
    Row(
      "balance.failure-wins", "a failure takes precedence over loading", by: "BalanceStoreTests",
      "the text shows the state of the refresh, then the last update; a failure takes precedence"),
    Row("balance.money-is-text", "an amount is a string on the wire", in: "balance-states"),
    Row(
      "balance.junk", "a response that is not a number is a failure", by: "HTTPBalanceServiceTests",
      "a response that is not a balance is a failure"),
    Row("balance.today", "a response of this day is dated today", in: "balance-states"),
    Row(
      "balance.yesterday", "a response of the day before is dated yesterday", in: "balance-states"),
    Row("balance.older", "an older response has its date", in: "balance-states"),
    Row("balance.older.failed", "a failure keeps the date", in: "balance-states"),
    Row(
      "balance.midnight.before", "one second before midnight, the text does not change",
      in: "balance-states"),
    Row("balance.midnight", "at midnight, the text changes without an input", in: "balance-states"),
    Row(
      "balance.calendar-set", "a changed clock is noticed within a minute",
      by: "BalanceDateTests", "the store notices a clock change within a minute"),
    Row(
      "balance.calendar-read",
      "a changed clock is noticed immediately at activation and at a refresh",
      by: "BalanceDateTests",
      "the store reads the date when it becomes visible and with each response"),
    Row(
      "balance.zone", "days and hours are those of the configured time zone",
      by: "BalanceDateTests",
      "a time is shown relative to the current day, in the time zone"),
    Row(
      "balance.redacted", "a redacted state has no amount, and the text stays",
      in: "balance-states"),
    Row("balance.redacted.again", "a second redaction changes nothing", in: "balance-states"),
    Row(
      "balance.redacted.subscribe", "a new subscriber does not receive a redacted amount",
      in: "balance-states"),
    Row(
      "balance.redacted.refresh", "a refresh does not show a redacted amount", in: "balance-states"),
    Row("balance.redacted.state", "store/state does not return a redacted amount", in: "balance"),
    Row(
      "balance.secret", "no printed text contains an amount", by: "BalanceStoreTests",
      "no description, reflection or dump contains an amount"),
    Row(
      "balance.endpoint", "the endpoint gets a GET request, and its number is read as text",
      by: "HTTPBalanceServiceTests", "the amount is taken exactly from its text"),
    Row(
      "balance.endpoint.date", "the date of the endpoint has a time zone",
      by: "HTTPBalanceServiceTests",
      "the date is read with its time zone"),
    Row(
      "balance.endpoint.status", "a status other than 200 is a failure",
      by: "HTTPBalanceServiceTests",
      "any status but 200 is a failure"),
    Row("balance.ledger", "without an endpoint, the ledger gives the balance", in: "balance"),
    Row(
      "balance.ledger.sum", "the ledger has the exact sum of its entries", by: "LedgerTests",
      "the balance is the exact sum of all entries, with the time of the last entry"),
    Row("balance.no-url", "a client cannot select a URL", in: "balance-states"),
  ]

  // MARK: - Loading: states and inputs

  static let loading: [Row] = [
    Row("loading.state.idle", "the first state is idle", in: "loading"),
    Row("loading.state.progress", "a state of loading may have progress", in: "loading"),
    Row("loading.state.loaded", "a loaded state has the value", in: "loading"),
    Row("loading.state.failure", "a failure has its error", in: "loading"),
    Row("loading.equal.loading", "an equal progress gives no update", in: "loading-trees"),
    Row("loading.equal.loaded", "an equal value gives no update", in: "loading-trees"),
    Row("loading.value.any", "a value can be any JSON", in: "loading-trees"),
    Row("loading.value.null", "a value can be null", in: "loading-trees"),
    Row("loading.idle.load", "idle, load: it loads", in: "loading"),
    Row("loading.idle.loadIfNotLoading", "idle, loadIfNotLoading: it loads", in: "loading"),
    Row("loading.idle.appear", "idle, appear: it loads", in: "loading"),
    Row("loading.idle.cancel", "idle, cancel: ignored", in: "loading"),
    Row("loading.idle.reset", "idle, reset: still idle", in: "loading"),
    Row(
      "loading.loading.load", "loading, load: a new generation, which replaces the old one",
      in: "loading"),
    Row("loading.loading.loadIfNotLoading", "loading, loadIfNotLoading: ignored", in: "loading"),
    Row("loading.loading.appear", "loading, appear: ignored", in: "loading"),
    Row(
      "loading.loading.cancel", "loading, cancel: one cancelled state, then nothing",
      in: "loading"),
    Row("loading.loading.reset", "loading, reset: idle, and the work is stopped", in: "loading"),
    Row("loading.loaded.load", "loaded, load: it loads again", in: "loading"),
    Row(
      "loading.loaded.loadIfNotLoading", "loaded, loadIfNotLoading: it loads again", in: "loading"),
    Row("loading.loaded.appear", "loaded, appear: ignored, the value stays", in: "loading"),
    Row("loading.loaded.cancel", "loaded, cancel: ignored", in: "loading"),
    Row("loading.loaded.reset", "loaded, reset: idle", in: "loading"),
    Row("loading.failure.load", "failure, load: it loads again", in: "loading"),
    Row(
      "loading.failure.loadIfNotLoading", "failure, loadIfNotLoading: it loads again", in: "loading"
    ),
    Row("loading.failure.appear", "failure, appear: ignored", in: "loading"),
    Row("loading.failure.cancel", "failure, cancel: ignored", in: "loading"),
    Row("loading.failure.reset", "failure, reset: idle", in: "loading-trees"),
    Row("loading.cancelled.load", "cancelled, load: ignored until a reset", in: "loading"),
    Row(
      "loading.cancelled.loadIfNotLoading", "cancelled, loadIfNotLoading: ignored", in: "loading"),
    Row("loading.cancelled.appear", "cancelled, appear: ignored", in: "loading"),
    Row("loading.cancelled.cancel", "cancelled, cancel: ignored", in: "loading"),
    Row("loading.cancelled.reset", "cancelled, reset: idle", in: "loading"),
    Row(
      "loading.cancel.work-stopped", "after a cancel, neither a value nor a failure follows",
      in: "loading"
    ),
    Row(
      "loading.cancel.checked", "after a cancel, no state of the load follows",
      by: "LoadingCrowdTests",
      "a cancelled load stays cancelled when its work ends or reports later"),
    Row("loading.cancel.percent", "a cancelled state keeps the percentage", in: "loading-all"),
    Row(
      "loading.cancel.unknown-percent", "a cancelled state keeps an unknown percentage",
      in: "loading-trees"),
    Row("loading.cancel.request", "cancelling a request cancels its load", in: "loading"),
    Row("loading.percent.whole", "a percentage is a whole number", in: "loading-trees"),
    Row("loading.percent.at-least-0", "a percentage is at least 0", in: "loading-trees"),
    Row("loading.percent.at-most-100", "a percentage is at most 100", in: "loading-trees"),
    Row(
      "loading.percent.never-falls", "the percentage never decreases within an attempt",
      in: "loading-trees"),
    Row(
      "loading.percent.unknown-between", "the percentage never decreases after it was unknown",
      by: "LoadingSeveralTests",
      "the percent of a mock does not decrease after an unknown percent"),
    Row(
      "loading.percent.in-policies", "the percentage never decreases within a policy",
      in: "loading-trees"),
  ]

  // MARK: - Loading: policies and sources

  static let loaders: [Row] = [
    Row(
      "loading.bad.type", "a node with an unknown type, or without one, is refused with its path",
      in: "loading-trees"),
    Row("loading.bad.source", "a source that is not registered is refused", in: "loading-trees"),
    Row("loading.bad.deep", "an invalid node deep in the tree is refused", in: "loading-trees"),
    Row("loading.bad.interval", "an invalid interval is refused", in: "loading-trees"),
    Row("loading.bad.of", "a policy without a loader is refused", in: "loading-trees"),
    Row("loading.bad.attempts", "fewer attempts than one are refused", in: "loading-trees"),
    Row("loading.bad.backoff", "an unknown backoff is refused", in: "loading-trees"),
    Row("loading.bad.limit", "a limit of zero is refused", in: "loading-trees"),
    Row("loading.bad.several", "a list without loaders is refused", in: "loading-trees"),
    Row("loading.bad.cache", "a cache without a key or a time is refused", in: "loading-trees"),
    Row("loading.bad.mock", "a mock with invalid states is refused", in: "loading-trees"),
    Row(
      "loading.bad.nothing-opened", "a refused configuration opens no store", in: "loading-trees"),
    Row(
      "loading.source.http", "a source can be an endpoint, with progress from the length",
      by: "HTTPSourceTests", "each percent is reported once, while the bytes arrive"),
    Row(
      "loading.source.file", "a source can be a file, with progress from the size",
      by: "FileSourceTests",
      "each percent is reported once and in order, for every size"),
    Row(
      "loading.source.folder", "a source's file must be in the operator's folder",
      by: "FileSourceTests",
      "a name that leads out of the folder or is not a file name is refused at the start"),
    Row(
      "loading.mock.states", "a mock plays its states, each after a delay",
      in: "loading"),
    Row("loading.mock.idle", "a mock can play an idle state", in: "loading"),
    Row(
      "loading.debounce.interval", "the window is 0.3 seconds by default", in: "loading-debounce"),
    Row("loading.debounce.restarts", "each call restarts the window", in: "loading-debounce"),
    Row("loading.debounce.calls", "calls wait, states do not", in: "loading-debounce"),
    Row(
      "loading.debounce.running", "a call does not affect a running load", in: "loading-debounce"),
    Row(
      "loading.debounce.takes-over",
      "at the end of the window, the new load replaces the running one",
      in: "loading-debounce"),
    Row("loading.debounce.cancel", "cancel drops an open window", in: "loading-debounce"),
    Row("loading.debounce.reset", "reset drops an open window", in: "loading-debounce"),
    Row(
      "loading.debounce.cancelled-request",
      "a load that is cancelled with its request drops the waiting call", in: "loading-debounce"),
    Row(
      "loading.debounce.first", "the first call can be configured to run immediately",
      in: "loading-debounce"),
    Row(
      "loading.debounce.after-first", "calls within the first call's window wait",
      in: "loading-debounce"),
    Row("loading.retry.attempts", "the limit counts all attempts", in: "loading-retry"),
    Row("loading.retry.one", "with one attempt there is no retry", in: "loading-trees"),
    Row(
      "loading.retry.waits", "by default, the waits double from 1 second to 30", in: "loading-trees"
    ),
    Row("loading.retry.backoff", "the backoff sets the waits", in: "loading-retry"),
    Row(
      "loading.retry.text", "during a wait, the text names the next attempt", in: "loading-retry"),
    Row("loading.retry.text-stays", "the text stays until the next progress", in: "loading-retry"),
    Row("loading.retry.progress", "the progress of an attempt is shown", in: "loading-retry"),
    Row("loading.retry.last-failure", "only the last failure is shown", in: "loading-trees"),
    Row("loading.retry.cancel", "cancel ends the wait", in: "loading-retry"),
    Row("loading.retry.each", "each load counts its attempts from the start", in: "loading-retry"),
    Row(
      "loading.retry.percent", "a new attempt may begin with a lower percentage",
      in: "loading-retry"),
    Row(
      "loading.timeout.failure", "a timeout is a failure with its own code",
      in: "loading-timeout"),
    Row("loading.timeout.late", "a result after the timeout is dropped", in: "loading-timeout"),
    Row("loading.timeout.in-time", "a result before the timeout is kept", in: "loading-timeout"),
    Row("loading.timeout.each", "each load has the whole time", in: "loading-timeout"),
    Row(
      "loading.timeout.stops", "a timeout stops the inner work", by: "LoadingRetryTests",
      "a timeout cancels the inner work and is a failure with its own text"),
    Row(
      "loading.cache.fresh", "a fresh value is shown immediately, without loading",
      in: "loading-cache"),
    Row("loading.cache.ttl", "a cached value expires after its time to live", in: "loading-cache"),
    Row("loading.cache.key", "values are cached by key", in: "loading-cache"),
    Row("loading.cache.failures", "failures are never cached", in: "loading-cache"),
    Row("loading.cache.reset", "reset drops the cached value", in: "loading-cache"),
    Row("loading.cache.per-session", "each session has its own cache", in: "sessions"),
    Row(
      "loading.limit.order", "waiting loads are served in the order of arrival", in: "loading-limit"
    ),
    Row("loading.limit.kept", "waiting loads are not dropped", in: "loading-limit"),
    Row("loading.limit.cancelled", "a cancelled load leaves the queue", in: "loading-limit"),
    Row(
      "loading.limit.handed-over", "the permit of an ended load goes directly to the next one",
      in: "loading-limit"),
    Row("loading.all.values", "concurrent loads give their values in order", in: "loading-all"),
    Row("loading.all.failure", "the first failure wins", in: "loading-all"),
    Row("loading.all.stops", "the first failure stops the other loads", in: "loading-all"),
    Row(
      "loading.all.percent", "the percentage is the mean, and unknown ones count as 0",
      in: "loading-all"),
    Row(
      "loading.all.percent-100", "the percentage is below 100 until all have loaded",
      in: "loading-all"),
    Row(
      "loading.sequence.order", "each load begins when the previous one has loaded",
      in: "loading-sequence"),
    Row("loading.sequence.value", "the value is that of the last load", in: "loading-sequence"),
    Row("loading.sequence.failure", "a failure ends the sequence", in: "loading-sequence"),
    Row("loading.sequence.percent", "the percentage is that of all loads", in: "loading-sequence"),
    Row(
      "loading.texts", "plain frontends and screen readers get texts",
      by: "LoadingTextTests", "each state has a text for plain frontends and one for screen readers"
    ),
  ]

  // MARK: - Lifecycle

  static let lifecycle: [Row] = [
    Row("lifecycle.begins-active", "a new session is active", in: "lifecycle"),
    Row(
      "lifecycle.inactive", "when no frontend is active, the redaction precedes the response",
      in: "lifecycle"),
    Row("lifecycle.inactive.again", "a repeated phase changes nothing", in: "lifecycle"),
    Row(
      "lifecycle.redacted.updates", "no update contains the amount while no frontend is active",
      in: "lifecycle"),
    Row(
      "lifecycle.redacted.state",
      "store/state does not return the amount while no frontend is active", in: "lifecycle"),
    Row(
      "lifecycle.redacted.opened",
      "a store that is opened while no frontend is active begins redacted", in: "lifecycle"),
    Row("lifecycle.others", "stores without phases are not affected", in: "lifecycle"),
    Row("lifecycle.active", "when a frontend is active again, the amount returns", in: "lifecycle"),
    Row(
      "lifecycle.own-input", "inputs of a store have the same effect for this store alone",
      in: "lifecycle"),
    Row(
      "lifecycle.either", "the amount is hidden if either the phase or an input hides it",
      in: "lifecycle"),
    Row("lifecycle.refused", "other phases are refused", in: "lifecycle"),
    Row(
      "lifecycle.per-session", "a redaction in one session does not affect other sessions",
      in: "sessions"),
  ]

  // MARK: - Traces and other side effects

  static let trace: [Row] = [
    Row("trace.on", "a client can request the trace of its session", in: "trace"),
    Row(
      "trace.operation",
      "a trace has subscription, request, outputs and completion of inputs and operations",
      in: "trace"),
    Row(
      "trace.names-only", "a trace has the names of inputs and actions, without their contents",
      in: "trace"),
    Row(
      "trace.intent-and-outcome", "requests and outcomes have different names",
      in: "trace"),
    Row("trace.failure", "a failed operation is completed as failed", in: "trace"),
    Row(
      "trace.cancel", "a cancelled operation ends with the cancellation, and nothing follows",
      in: "trace"),
    Row("trace.input.nothing", "an input without effects begins and ends", in: "trace"),
    Row("trace.input.refused", "a refused input is not in the trace", in: "trace"),
    Row("trace.form", "no trace contains an entry of a form", in: "trace"),
    Row("trace.loader", "each attempt of a loader begins and ends", in: "trace"),
    Row("trace.balance", "a refresh begins and ends, without its amount", in: "trace"),
    Row("trace.off", "a trace can be turned off", in: "trace"),
    Row("trace.again", "a trace that is turned on again counts from 1", in: "trace"),
    Row(
      "hook.one-end", "each operation has one end, and nothing follows it", by: "HookTests",
      "a hook sees exactly one end of each operation, and nothing after it"),
    Row(
      "hook.harmless", "hooks that throw, hang or are slow have no effect on the store",
      by: "HookStageTests",
      "hooks that throw, hang or flood do not change, delay or reorder anything"),
    Row(
      "hook.shorthands", "handleOutput and handleError observe outputs and failures",
      by: "BuiltinHookTests",
      "`handleOutput` receives outputs and `handleError` receives failures of operations"),
    Row(
      "hook.print", "debugPrint prints no payload", by: "BuiltinHookTests",
      "`debugPrint` writes a line at the end of each operation, without payload"),
    Row(
      "hook.errors", "failures are logged by name", by: "LoggingObserverTests",
      "failed operations are logged as warnings, by name"),
    Row(
      "hook.tracking", "each event is counted once, under two names", by: "BuiltinHookTests",
      "`tracking` counts an intent and its outcome separately, each once"),
    Row(
      "hook.persisting", "states are persisted in their order", by: "BuiltinHookTests",
      "`persisting` passes each published view state, in order"),
    Row(
      "hook.start-and-stop", "whatever a hook starts for an operation is stopped",
      by: "BuiltinHookTests",
      "`process` stops what it has started"),
  ]
}
