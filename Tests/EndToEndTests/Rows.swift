// SPDX-License-Identifier: Apache-2.0

import Testing

/// One thing that stores are to do, and what shows it.
///
/// The table goes store by store: what is configured, then state by state and input by input. A row
/// of a conversation has the marker `# [id]` there, above the lines that play it.
struct Row: CustomTestStringConvertible {
  enum Place {
    /// The name of a file in `Protocol/Conversations`, without its extension.
    case conversation(String)
    /// What does not show on the wire: the name of a file in `Tests` and the sentence of a test.
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

  // MARK: - What holds for every store

  static let rules: [Row] = [
    Row("rule.action.none", "an input may become no action", in: "rules"),
    Row("rule.action.one", "an input may become one action", in: "rules"),
    Row("rule.action.several", "an input may become several actions, each a state", in: "rules"),
    Row("rule.action.later", "an action may come later than its input", in: "rules"),
    Row(
      "rule.action.failure", "a failure is an action, after which the store goes on", in: "rules"),
    Row(
      "rule.subscribe.current", "whoever subscribes is told the current state at once", in: "rules"),
    Row("rule.subscribe.later", "then every later state", in: "rules"),
    Row(
      "rule.listeners", "there may be any number of listeners", by: "SubscriptionTests",
      "several frontends get the same frames, each with its own last request"),
    Row("rule.unsubscribe.work-goes-on", "to stop listening cancels no work", in: "rules"),
    Row(
      "rule.frame.after-write",
      "a state that is asked for after a frame is that of the frame, or newer", in: "rules"),
    Row(
      "rule.frame.one-per-action", "one action is one frame, however much it changes", in: "rules"),
    Row("rule.frame.none-if-equal", "an equal state is no frame and no revision", in: "rules"),
    Row("rule.frame.bytes", "texts are compared by their bytes", in: "rules"),
    Row("rule.frame.error-equal", "an error of the same code and message is equal", in: "rules"),
    Row("rule.frame.error-message", "an error with another message is another one", in: "rules"),
    Row("rule.frame.error-code", "an error with another code is another one", in: "rules"),
    Row(
      "rule.changed.back", "an input after which the state is what it was has not changed it",
      in: "rules"),
    Row("rule.changed.back-later", "nor has one whose effects lead back", in: "rules"),
    Row(
      "rule.settle.revision", "a response has the current revision, also of a replaced load",
      in: "todo-failures"),
    Row(
      "rule.applied.attach", "attaching again to the same session keeps the last request",
      in: "sharing"),
    Row("rule.session.order", "inputs of one session are folded in their order", in: "rules"),
    Row("rule.session.independent", "sessions do not wait for each other", in: "sessions"),
    Row(
      "rule.reentrancy", "what is sent from inside a publication takes its turn", by: "StoreTests",
      "queues what is sent from inside a publication, and folds it right after"),
    Row(
      "rule.hook.reentrancy", "what is sent from inside a hook takes its turn", by: "HookTests",
      "may send inputs, which take their turn"),
    Row("rule.input.early", "inputs are taken from the moment a store exists", in: "rules"),
    Row(
      "rule.completion-order", "effects run at once, and are folded as they end",
      in: "todo-failures"),
    Row(
      "rule.generation.todo", "of several loads of a list only the newest is heard",
      in: "todo-failures"),
    Row(
      "rule.generation.balance", "of several refreshes only the newest is heard",
      in: "balance-states"),
    Row(
      "rule.generation.loader", "of several loads of a loader only the newest is heard",
      in: "loading"),
    Row(
      "rule.adds-never-dropped", "adds and removes are never dropped for newer ones",
      in: "todo-failures"),
    Row(
      "rule.input.ignored", "an input that a state has no use for is taken, and changes nothing",
      in: "rules"),
    Row(
      "rule.refused.unknown-type", "an input of an unknown type is refused with its path",
      in: "form"),
    Row("rule.refused.no-type", "so is one without a type", in: "form"),
    Row("rule.refused.missing-member", "so is one that lacks a member", in: "form"),
    Row("rule.refused.wrong-type", "so is one with a member of another type", in: "form"),
    Row("rule.refused.nothing-changed", "what is refused has changed nothing", in: "form"),
    Row("rule.input.extra-members", "members that an input does not have are ignored", in: "todo"),
    Row("rule.close.cancels", "closing a store cancels what runs in it", in: "todo-failures"),
    Row(
      "rule.close.later-inputs", "inputs to a closed store get an error that says so",
      in: "todo-failures"),
    Row("rule.error.shape", "an error in a state has a code and a message", in: "rules"),
    Row(
      "rule.error.own-words", "the words of an error are our own, whoever failed",
      by: "LoadingTableTests", "errors of a source that are none of its own get a text of ours"),
    Row("rule.wire.type", "a state of several shapes says which by its type", in: "todo"),
    Row("rule.wire.absent", "what is absent is null", in: "balance"),
    Row("rule.wire.ids", "ids are strings", in: "todo"),
    Row(
      "rule.texts.codes", "each text has a stable code", by: "FormRuleTests",
      "each text has a code of its own"),
  ]

  // MARK: - The todo list

  static let todo: [Row] = [
    Row("todo.initial", "the first state is loading", in: "todo-states"),
    Row(
      "todo.stateRequested.loading", "in loading a load shows no second loading, and gives content",
      in: "todo-states"),
    Row(
      "todo.stateRequested.content",
      "in content a load that takes its time leaves the list on screen", in: "todo-stream"),
    Row("todo.stateRequested.error", "in error a load shows loading first", in: "todo-states"),
    Row(
      "todo.stateRequested.failed", "a load that fails gives the error with its code and message",
      in: "todo-failures"),
    Row("todo.todoAdded", "an added todo comes with an id and is not completed", in: "todo"),
    Row("todo.todoAdded.id", "an added todo takes the id that it comes with", in: "todo-ids"),
    Row("todo.todoAdded.id.present", "an id that exists already changes nothing", in: "todo-ids"),
    Row("todo.todoAdded.id.length", "an id has 1 to 64 bytes", in: "todo-ids"),
    Row("todo.todoAdded.failed", "an add that fails gives the error", in: "todo-failures"),
    Row("todo.todoRemoved", "a removed todo goes", in: "todo"),
    Row("todo.todoRemoved.failed", "a remove that fails gives the error", in: "todo-failures"),
    Row("todo.todosUpdated", "what is internal is refused from outside", in: "todo"),
    Row(
      "todo.todosUpdated.inside", "inside it sets the content", by: "TodoStoreTests",
      "todosUpdated is refused from a frontend, and usable inside"),
    Row("todo.loading.setState.content", "from loading to content", in: "todo-states"),
    Row("todo.loading.setState.error", "from loading to error", in: "todo-states"),
    Row("todo.content.setState.content", "from content to equal content: no news", in: "todo"),
    Row("todo.content.setState.error", "from content to error", in: "todo-states"),
    Row("todo.error.setState.loading", "from error to loading", in: "todo-states"),
    Row("todo.error.setState.error", "from error to the same error: no news", in: "todo-states"),
    Row("todo.content.addTodo", "in content a todo is appended at the end", in: "todo-states"),
    Row(
      "todo.content.removeTodo", "in content every todo of that id goes", by: "TodoStoreTests",
      "content follows every change"),
    Row("todo.content.removeTodo.unknown", "an unknown id is no news", in: "todo"),
    Row("todo.loading.addTodo", "in loading an add changes nothing on screen", in: "todo-states"),
    Row(
      "todo.loading.removeTodo", "in loading a remove changes nothing on screen", in: "todo-states"),
    Row("todo.error.addTodo", "in error an add changes nothing on screen", in: "todo-states"),
    Row("todo.error.removeTodo", "in error a remove changes nothing on screen", in: "todo-states"),
    Row("todo.todoRenamed", "a renamed todo has another title", in: "todo"),
    Row("todo.todoCompleted", "a completed todo is so", in: "todo"),
    Row("todo.todoReopened", "a reopened todo is not completed any more", in: "todo"),
    Row("todo.todoMoved.before", "a todo moves before another one", in: "todo"),
    Row("todo.todoMoved.end", "before nothing is at the end", in: "todo"),
    Row("todo.todoRenamed.failed", "a rename that fails gives the error", in: "todo-failures"),
    Row("todo.todoCompleted.failed", "so does a completion", in: "todo-failures"),
    Row("todo.todoReopened.failed", "so does a reopening", in: "todo-failures"),
    Row("todo.todoMoved.failed", "so does a move", in: "todo-failures"),
    Row(
      "todo.content.unknown-ids", "unknown ids change nothing, whatever the input",
      in: "todo-states"),
    Row("todo.content.equal", "what is so already is no news", in: "todo-states"),
    Row(
      "todo.loading.others", "in loading the other changes are not shown either", in: "todo-states"),
    Row("todo.error.others", "in error the other changes are not shown either", in: "todo-states"),
    Row("todo.list.named", "a list has a name", in: "todo-states"),
    Row("todo.list.default", "without a configuration the name is default", in: "todo-states"),
    Row("todo.list.shared", "a named list is shared by all sessions", in: "shared-list"),
    Row("todo.memory.begins", "a list in memory begins with todos 1 to N", in: "todo-states"),
    Row("todo.memory.private", "a list in memory is private to its store", in: "todo-states"),
    Row("todo.memory.later-ids", "later ids count on", in: "todo-states"),
    Row("todo.memory.at-once", "a list in memory is there before the answer", in: "todo"),
    Row(
      "todo.configuration.refused", "a configuration that is none is refused with its path",
      in: "todo-states"),
    Row(
      "todo.stateRequested.cancelled", "a first load that is cancelled gives the error",
      in: "todo-failures"),
    Row(
      "todo.stateRequested.superseded", "one that is replaced leaves it loading",
      in: "todo-failures"),
    Row("todo.recovers", "after an error a load recovers", in: "todo-failures"),
    Row(
      "todo.stream.list-once", "the list comes once, with all that happened before",
      in: "todo-stream"),
    Row(
      "todo.stream.own-before-answer", "an own change comes before the answer to it",
      in: "todo-stream"),
    Row(
      "todo.stream.order", "changes come in the order of their commits, whoever makes them",
      by: "TodoFeedTests", "has one order for all, whoever adds"),
    Row("todo.stream.starts", "nothing of the list comes before the first load", in: "todo-stream"),
    Row(
      "todo.stream.small-difference", "a change of another session comes as a small difference",
      in: "todo-stream"),
    Row(
      "todo.stream.other-process", "so does one of another process", by: "SharingTests",
      "notice each other's changes at the next look, as single changes"),
    Row(
      "todo.stream.nothing-twice", "nothing appears twice or goes and returns", in: "todo-stream"),
    Row("todo.stream.add-while-loading", "an add during loading is not lost", in: "todo-stream"),
    Row("todo.title.empty", "a title that is only white space is refused", in: "todo-states"),
    Row("todo.title.bytes", "a title may have 4,096 bytes", in: "todo-states"),
    Row("todo.title.too-long", "one byte more is refused", in: "todo-states"),
    Row("todo.title.nothing-changed", "a refused title reaches no list", in: "todo-states"),
    Row("todo.title.kept", "a title is kept with the white space around it", in: "todo-states"),
    Row(
      "todo.database", "a list is there after the process has ended", by: "ProcessTests",
      "keeps the list from one process to the next"),
    Row(
      "todo.database.failed", "operations on a list in the database fail likewise",
      in: "todo-failures"),
  ]

  // MARK: - The form that adds a todo

  static let addTodo: [Row] = [
    Row(
      "addTodo.initial", "it begins with nothing valid, loading or to be dismissed",
      in: "todo-failures"),
    Row("addTodo.validate.empty", "a title of white space is not valid", in: "todo-failures"),
    Row("addTodo.validate", "any other title is valid", in: "todo-failures"),
    Row("addTodo.loading-first", "it is loading while the todo is added", in: "todo-failures"),
    Row(
      "addTodo.success", "then it is to be dismissed, and not loading, as one change",
      in: "todo-failures"),
    Row("addTodo.failure", "after a failure it is not loading, and stays", in: "todo-failures"),
    Row(
      "addTodo.validate.clears-dismiss", "a later change of the title takes back the dismissal",
      in: "todo-failures"),
    Row("addTodo.refused", "an empty title is not added", in: "todo-failures"),
  ]

  // MARK: - The form

  static let form: [Row] = [
    Row(
      "form.firstEntryChanged", "the first entry changes with what is said about it",
      in: "form-rules"),
    Row("form.secondEntryChanged", "so does the second", in: "form-rules"),
    Row("form.entriesChanged", "both change as one", in: "form"),
    Row("form.initial", "the first state is evaluated", in: "form-rules"),
    Row("form.empty-empty", "nothing twice: too short", in: "form-rules"),
    Row(
      "form.abcde-empty", "different and too short: both messages, that one first", in: "form-rules"
    ),
    Row("form.abcd-abcd", "equal and too short: one message", in: "form-rules"),
    Row("form.abcde-abcdf", "different and long enough: one message", in: "form-rules"),
    Row(
      "form.abcde-abcde", "equal and long enough: no message, may be submitted", in: "form-rules"),
    Row("form.five-spaces", "five spaces are five characters", in: "form-rules"),
    Row(
      "form.both-short-and-different", "each message stands there at most once", in: "form-rules"),
    Row("form.first-short", "the first entry alone may be too short", in: "form-rules"),
    Row("form.second-short", "so may the second", in: "form-rules"),
    Row("form.four-thumbs", "four thumbs are four characters", in: "form-rules"),
    Row("form.five-thumbs", "five are enough, whatever they are made of", in: "form-rules"),
    Row("form.white-space", "white space around an entry counts", in: "form-rules"),
    Row("form.canonical", "composed and decomposed letters match", in: "form-rules"),
    Row("form.bytes", "and are a change on the wire all the same", in: "form"),
    Row(
      "form.validated-once", "rules are looked at once for each change, after it",
      by: "FormStoreTests",
      "validates once per change, after the write, and not at all for a submission"),
    Row("form.submit.allowed", "a submission that is allowed is one event", in: "form-rules"),
    Row("form.submit.not-allowed", "another one is nothing, and no error", in: "form-rules"),
    Row("form.submit.no-state", "a submission changes no state", in: "form"),
    Row("form.submit.once", "an event is not told again", in: "form-rules"),
    Row("form.refused.not-quoted", "an error does not quote what was entered", in: "form-rules"),
    Row(
      "form.secret", "nothing that is printed has an entry in it", by: "FormStoreTests",
      "no description, reflection or dump of its inputs, actions and states has the entries"),
  ]

  // MARK: - The balance

  static let balance: [Row] = [
    Row("balance.viewDidAppear", "what appears is refreshed", in: "balance-states"),
    Row("balance.refreshButtonWasTapped", "so is what is asked for", in: "balance-states"),
    Row("balance.willResignActive", "hides the amount", in: "balance-states"),
    Row("balance.didBecomeActive", "shows it again", in: "balance-states"),
    Row(
      "balance.refresh.one-change", "that it refreshes and has not failed is one change",
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
      "balance.never-answers", "a service that never answers leaves it refreshing",
      in: "balance-states"),
    Row("balance.cancelled", "cancelling ends that, and is no failure", in: "balance-states"),
    Row("balance.no-response", "without a response the amount is --", in: "balance-states"),
    Row(
      "balance.two-decimals", "an amount has its currency and two decimals", in: "balance-states"),
    Row(
      "balance.amounts", "large, negative and rounded amounts", by: "BalanceStoreTests",
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
      "balance.failure-wins", "of failure and loading, failure is told", by: "BalanceStoreTests",
      "how the refresh went comes first, then the last update; failure wins"),
    Row("balance.money-is-text", "an amount travels as a string", in: "balance-states"),
    Row(
      "balance.junk", "what is no number is a failure", by: "HTTPBalanceServiceTests",
      "fails at what is none"),
    Row("balance.today", "a response of this day is of today", in: "balance-states"),
    Row("balance.yesterday", "one of the day before is of yesterday", in: "balance-states"),
    Row("balance.older", "an older one has its date", in: "balance-states"),
    Row("balance.older.failed", "a failure keeps it", in: "balance-states"),
    Row("balance.midnight.before", "a second before midnight the text stays", in: "balance-states"),
    Row("balance.midnight", "at midnight it moves on by itself", in: "balance-states"),
    Row(
      "balance.calendar-set", "a calendar that is set is noticed within a minute",
      by: "BalanceDateTests", "a clock that is set is noticed within a minute"),
    Row(
      "balance.calendar-read", "and at once by a frontend that becomes active, and by a refresh",
      by: "BalanceDateTests",
      "the date is read when the store becomes visible and with each response"),
    Row(
      "balance.zone", "days and hours are those of the time zone", by: "BalanceDateTests",
      "a time is told relative to the day and the zone"),
    Row(
      "balance.redacted", "while redacted there is no amount, and the text stays",
      in: "balance-states"),
    Row("balance.redacted.again", "redacted twice is redacted", in: "balance-states"),
    Row(
      "balance.redacted.subscribe", "a new subscription is told no amount either",
      in: "balance-states"),
    Row("balance.redacted.refresh", "nor is a response that comes meanwhile", in: "balance-states"),
    Row("balance.redacted.state", "nor whoever asks for the state", in: "balance"),
    Row(
      "balance.secret", "nothing that is printed has an amount in it", by: "BalanceStoreTests",
      "nothing that is printed has an amount in it"),
    Row(
      "balance.endpoint", "an endpoint is asked with GET, and its number is read as text",
      by: "HTTPBalanceServiceTests", "takes the amount by its text, exactly"),
    Row(
      "balance.endpoint.date", "the date has a zone", by: "HTTPBalanceServiceTests",
      "takes the date with its zone"),
    Row(
      "balance.endpoint.status", "any status but 200 is a failure", by: "HTTPBalanceServiceTests",
      "fails at any status but 200"),
    Row("balance.ledger", "without one the ledger is asked", in: "balance"),
    Row(
      "balance.ledger.sum", "the ledger has the exact sum of its entries", by: "LedgerTests",
      "is the exact sum of all entries at the time of the last one"),
    Row("balance.no-url", "a client names no URL", in: "balance-states"),
  ]

  // MARK: - Loading: states and inputs

  static let loading: [Row] = [
    Row("loading.state.idle", "the first state is idle", in: "loading"),
    Row("loading.state.progress", "a state of loading may have progress", in: "loading"),
    Row("loading.state.loaded", "a loaded state has the value", in: "loading"),
    Row("loading.state.failure", "a failure has its error", in: "loading"),
    Row("loading.equal.loading", "an equal progress is no news", in: "loading-trees"),
    Row("loading.equal.loaded", "an equal value is no news", in: "loading-trees"),
    Row("loading.value.any", "a value is any JSON", in: "loading-trees"),
    Row("loading.value.null", "null too", in: "loading-trees"),
    Row("loading.idle.load", "idle, load: it loads", in: "loading"),
    Row("loading.idle.loadIfNotLoading", "idle, loadIfNotLoading: it loads", in: "loading"),
    Row("loading.idle.appear", "idle, appear: it loads", in: "loading"),
    Row("loading.idle.cancel", "idle, cancel: ignored", in: "loading"),
    Row("loading.idle.reset", "idle, reset: idle as before", in: "loading"),
    Row("loading.loading.load", "loading, load: a new generation, which wins", in: "loading"),
    Row("loading.loading.loadIfNotLoading", "loading, loadIfNotLoading: ignored", in: "loading"),
    Row("loading.loading.appear", "loading, appear: ignored", in: "loading"),
    Row(
      "loading.loading.cancel", "loading, cancel: one state that says so, then nothing",
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
      "loading.cancel.work-stopped", "after a cancel comes neither value nor failure", in: "loading"
    ),
    Row(
      "loading.cancel.checked", "nothing is said after a cancel, whatever was about to be",
      by: "LoadingCrowdTests", "a cancelled load is cancelled, whatever it was about to say"),
    Row("loading.cancel.percent", "a cancelled state keeps the percent", in: "loading-all"),
    Row("loading.cancel.unknown-percent", "also one that is not known", in: "loading-trees"),
    Row("loading.cancel.request", "cancelling a request cancels its load", in: "loading"),
    Row("loading.percent.whole", "a percent is a whole number", in: "loading-trees"),
    Row("loading.percent.at-least-0", "of 0 at least", in: "loading-trees"),
    Row("loading.percent.at-most-100", "and 100 at most", in: "loading-trees"),
    Row("loading.percent.never-falls", "it never falls within an attempt", in: "loading-trees"),
    Row(
      "loading.percent.unknown-between", "also where it is unknown in between",
      by: "LoadingSeveralTests",
      "the percent of a mock does not fall where it is unknown in between"),
    Row("loading.percent.in-policies", "nor does it in a policy", in: "loading-trees"),
  ]

  // MARK: - Loading: policies and sources

  static let loaders: [Row] = [
    Row(
      "loading.bad.type", "a node of an unknown type, or of none, is refused with its path",
      in: "loading-trees"),
    Row("loading.bad.source", "so is a source that nobody has registered", in: "loading-trees"),
    Row("loading.bad.deep", "so is one deep in the tree", in: "loading-trees"),
    Row("loading.bad.interval", "so is an interval that is none", in: "loading-trees"),
    Row("loading.bad.of", "so is a policy around nothing", in: "loading-trees"),
    Row("loading.bad.attempts", "so are fewer attempts than one", in: "loading-trees"),
    Row("loading.bad.backoff", "so is an unknown backoff", in: "loading-trees"),
    Row("loading.bad.limit", "so is a limit of nothing", in: "loading-trees"),
    Row("loading.bad.several", "so are several of none", in: "loading-trees"),
    Row("loading.bad.cache", "so is a cache without a key or a time", in: "loading-trees"),
    Row("loading.bad.mock", "so is a mock of states that are none", in: "loading-trees"),
    Row("loading.bad.nothing-opened", "what is refused is not opened", in: "loading-trees"),
    Row(
      "loading.source.http", "a source is an endpoint, with progress from the length",
      by: "HTTPSourceTests", "tells each percent once, while the bytes arrive"),
    Row(
      "loading.source.file", "or a file, with progress from the size", by: "FileSourceTests",
      "tells each percent once and in order, whatever the size"),
    Row(
      "loading.source.folder", "under the operator's folder alone", by: "FileSourceTests",
      "is refused at the start if its name leads out, or is none"),
    Row(
      "loading.mock.states", "a mock plays its states, each so long after the one before",
      in: "loading"),
    Row("loading.mock.idle", "also one that is idle", in: "loading"),
    Row(
      "loading.debounce.interval", "the window is 0.3 seconds unless given", in: "loading-debounce"),
    Row("loading.debounce.anew", "each call opens it anew", in: "loading-debounce"),
    Row("loading.debounce.calls", "calls wait, states do not", in: "loading-debounce"),
    Row("loading.debounce.running", "a call leaves a running load alone", in: "loading-debounce"),
    Row(
      "loading.debounce.takes-over", "at the end of the window the new load takes over",
      in: "loading-debounce"),
    Row("loading.debounce.cancel", "cancel drops an open window", in: "loading-debounce"),
    Row("loading.debounce.reset", "so does reset", in: "loading-debounce"),
    Row(
      "loading.debounce.cancelled-request",
      "a load that is cancelled with its request drops the call that waits", in: "loading-debounce"),
    Row("loading.debounce.first", "the first call may go at once", in: "loading-debounce"),
    Row("loading.debounce.after-first", "those within its window wait", in: "loading-debounce"),
    Row("loading.retry.attempts", "attempts are counted in total", in: "loading-retry"),
    Row("loading.retry.one", "one attempt is no retry", in: "loading-trees"),
    Row("loading.retry.waits", "the waits double from 1 second to 30", in: "loading-trees"),
    Row("loading.retry.backoff", "or are what the backoff says", in: "loading-retry"),
    Row("loading.retry.text", "while it waits, it says which attempt comes", in: "loading-retry"),
    Row("loading.retry.text-stays", "the text stays until progress comes", in: "loading-retry"),
    Row("loading.retry.progress", "progress of an attempt is shown", in: "loading-retry"),
    Row("loading.retry.last-failure", "only the last failure is shown", in: "loading-trees"),
    Row("loading.retry.cancel", "cancel ends the wait", in: "loading-retry"),
    Row("loading.retry.anew", "each load counts from the start", in: "loading-retry"),
    Row("loading.retry.percent", "a new attempt may begin lower", in: "loading-retry"),
    Row(
      "loading.timeout.failure", "what takes too long is a failure with a code of its own",
      in: "loading-timeout"),
    Row("loading.timeout.late", "what comes late is dropped", in: "loading-timeout"),
    Row("loading.timeout.in-time", "what is in time is not timed out", in: "loading-timeout"),
    Row("loading.timeout.anew", "each load has the whole time", in: "loading-timeout"),
    Row(
      "loading.timeout.stops", "the work within is stopped", by: "LoadingRetryTests",
      "a timeout is a failure with a text of its own; inner work is stopped"),
    Row(
      "loading.cache.fresh", "a fresh value is there at once, without loading", in: "loading-cache"),
    Row("loading.cache.ttl", "until its time is over", in: "loading-cache"),
    Row("loading.cache.key", "by key", in: "loading-cache"),
    Row("loading.cache.failures", "failures are never kept", in: "loading-cache"),
    Row("loading.cache.reset", "reset drops the entry", in: "loading-cache"),
    Row("loading.cache.per-session", "each session has a cache of its own", in: "sessions"),
    Row("loading.limit.order", "who waits is served in the order of coming", in: "loading-limit"),
    Row("loading.limit.kept", "and is not dropped", in: "loading-limit"),
    Row("loading.limit.cancelled", "who is cancelled leaves the queue", in: "loading-limit"),
    Row("loading.limit.handed-over", "a permit goes directly to the next", in: "loading-limit"),
    Row("loading.all.values", "several at once give their values in order", in: "loading-all"),
    Row("loading.all.failure", "the first failure wins", in: "loading-all"),
    Row("loading.all.stops", "and stops the others", in: "loading-all"),
    Row(
      "loading.all.percent", "the percent is the mean, unknown ones count as 0", in: "loading-all"),
    Row("loading.all.percent-100", "it is not 100 before all have loaded", in: "loading-all"),
    Row(
      "loading.sequence.order", "one after the other, each once the one before has loaded",
      in: "loading-sequence"),
    Row("loading.sequence.value", "the value is that of the last", in: "loading-sequence"),
    Row("loading.sequence.failure", "a failure ends it", in: "loading-sequence"),
    Row("loading.sequence.percent", "the percent is that of all parts", in: "loading-sequence"),
    Row(
      "loading.texts", "what a plain frontend shows, and what a screen reader says",
      by: "LoadingTextTests", "what a plain frontend shows and a screen reader says"),
  ]

  // MARK: - Who looks

  static let lifecycle: [Row] = [
    Row("lifecycle.begins-active", "a session begins active", in: "lifecycle"),
    Row(
      "lifecycle.inactive", "once nobody looks, the amount is off the wire before the answer",
      in: "lifecycle"),
    Row("lifecycle.inactive.again", "saying so again changes nothing", in: "lifecycle"),
    Row("lifecycle.redacted.frames", "no frame has it meanwhile", in: "lifecycle"),
    Row("lifecycle.redacted.state", "nor has a state that is asked for", in: "lifecycle"),
    Row(
      "lifecycle.redacted.opened", "a store that is opened then begins redacted", in: "lifecycle"),
    Row("lifecycle.others", "stores that do not care go on", in: "lifecycle"),
    Row("lifecycle.active", "once somebody looks, the amount returns", in: "lifecycle"),
    Row("lifecycle.own-input", "a store's own inputs do the same for it alone", in: "lifecycle"),
    Row("lifecycle.either", "the amount is hidden while either says so", in: "lifecycle"),
    Row("lifecycle.refused", "there is no other phase", in: "lifecycle"),
    Row("lifecycle.per-session", "what one session hides, another one shows", in: "sessions"),
  ]

  // MARK: - Traces and other side effects

  static let trace: [Row] = [
    Row("trace.on", "a frontend asks for the trace of its session", in: "trace"),
    Row(
      "trace.operation", "subscription, request, outputs, completion, for input and operation",
      in: "trace"),
    Row(
      "trace.names-only", "with the names of inputs and actions, and nothing that is in them",
      in: "trace"),
    Row(
      "trace.intent-and-outcome", "what is wanted and what comes of it have different names",
      in: "trace"),
    Row("trace.failure", "an operation that fails is completed as failed", in: "trace"),
    Row("trace.cancel", "one that is cancelled ends with that, and nothing after it", in: "trace"),
    Row("trace.input.nothing", "an input that does nothing begins and ends", in: "trace"),
    Row("trace.input.refused", "one that is refused is none", in: "trace"),
    Row("trace.form", "what is entered is in no trace", in: "trace"),
    Row("trace.loader", "each attempt of a loader begins and ends", in: "trace"),
    Row("trace.balance", "so does a refresh, without its amount", in: "trace"),
    Row("trace.off", "it can be turned off", in: "trace"),
    Row("trace.again", "and on again, counting from 1", in: "trace"),
    Row(
      "hook.one-end", "each operation has one end, and nothing after it", by: "HookTests",
      "see exactly one end of each operation, and nothing after it"),
    Row(
      "hook.harmless", "hooks that throw, hang or are slow harm nothing", by: "HookStageTests",
      "hooks that throw, hang or flood alter, delay and reorder nothing"),
    Row(
      "hook.shorthands", "handleOutput and handleError", by: "BuiltinHookTests",
      "handleOutput sees what operations give, handleError what says that they have failed"),
    Row(
      "hook.print", "debug print has no payload", by: "BuiltinHookTests",
      "debugPrint writes a line at the end of each operation, and no payload"),
    Row(
      "hook.errors", "failures are logged by name", by: "LoggingObserverTests",
      "failures are warnings, by name"),
    Row(
      "hook.tracking", "events are counted once each, under two names", by: "BuiltinHookTests",
      "tracking counts what is wanted and what comes of it under two names, each once"),
    Row(
      "hook.persisting", "states are kept in their order", by: "BuiltinHookTests",
      "persisting keeps each view state that is published, in order"),
    Row(
      "hook.start-and-stop", "what was started is always stopped", by: "BuiltinHookTests",
      "what was started is always stopped"),
  ]
}
