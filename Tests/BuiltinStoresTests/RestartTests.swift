// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import StateMachines
import StatewireJSON
import TestSupport
import Testing

/// Tests of stores that are restored after their process was killed.
@Suite("Restored stores", .timeLimit(.minutes(15)))
struct RestartTests {
  @Test("a restored list in memory has the same todos and continues its ids")
  func memoryList() async throws {
    func store() -> TodoStore {
      TodoStore(repository: MemoryTodoRepository(), list: MemoryTodoRepository.list(count: 3))
    }
    let first = try await DurableHost(store())
    try await first.send(.stateRequested)
    try await first.send(.todoRemoved(id: "3"))
    try await first.send(.todoAdded(title: "e\u{301}"))
    try await first.send(.todoMoved(id: "4", before: "1"))
    let written = try #require(await first.kill())
    #expect(written.accepted.isEmpty && written.revision == 4)
    let second = try await DurableHost(store(), after: written, for: .seconds(1))
    try await second.send(.todoAdded(title: "Bread"))
    let todos = await second.state.map { Array($0.list.todos) }
    #expect(todos?.map(\.id) == ["4", "1", "2", "5"])
    #expect(todos?[0].title == "e\u{301}")
    #expect(await second.kill()?.revision == 5)
  }

  @Test("a restored list repeats unfinished changes under the same operation id, and loads again")
  func keptList() async throws {
    let calls = Record<String>()
    let repository = NotingRepository(calls: calls)
    let first = try await DurableHost(TodoStore(repository: repository))
    try await first.send(.stateRequested)
    await first.until { $0.shown == .content }
    try await first.send(.todoCompleted(id: "a"))
    try await first.send(.todoAdded(title: "Milk"))
    await first.wait(sleepers: 2)
    let written = try #require(await first.kill())
    #expect(written.accepted.map(\.operation) == [2, 3])
    #expect(calls.all.sorted() == ["addTodo test#1.3", "completeTodo test#1.2", "getTodos"])
    let second = try await DurableHost(
      TodoStore(repository: repository), after: written, for: .zero)
    try await calls.reaches(6)
    #expect(
      calls.all.sorted() == [
        "addTodo test#1.3", "addTodo test#1.3", "completeTodo test#1.2", "completeTodo test#1.2",
        "getTodos", "getTodos",
      ])
    // The todos that frontends see remain.
    #expect(await second.satisfies { $0.shown == .content && $0.list.todos.count == 1 })

    // The add-todo store also repeats its change.
    let form = try await DurableHost(AddTodoStore(repository: repository))
    try await form.send(.addTodo(title: "Milk"))
    await form.wait(sleepers: 1)
    let half = try #require(await form.kill())
    var lost = half
    (lost.accepted, lost.lacksInputs) = ([], true)
    let idle = try await DurableHost(AddTodoStore(repository: repository), after: lost, for: .zero)
    #expect(await idle.satisfies { !$0.shown.loading && !$0.shown.dismiss })
    let again = try await DurableHost(AddTodoStore(repository: repository), after: half, for: .zero)
    #expect(await again.satisfies { $0.shown.loading && !$0.shown.dismiss })
    await again.wait(sleepers: 1)
    again.clock.advance(to: again.clock.now.advanced(by: .seconds(1)))
    await again.until { !$0.shown.loading && $0.shown.dismiss }
    #expect(calls.all.filter { $0 == "addTodo test#1.1" }.count == 2)
  }

  @Test("a restored balance repeats an unfinished refresh, and shows the new day")
  func balance() async throws {
    let response = BalanceResponse(
      balance: try #require(DecimalNumber("1.23")),
      date: Timestamp(secondsSinceEpoch: 1_622_631_708))
    func store(_ isThere: Bool) -> BalanceStore {
      BalanceStore(service: LateService(response: response, isThere: isThere))
    }
    let first = try await DurableHost(store(false), at: BalanceResult.time)
    try await first.send(.viewDidAppear)
    #expect(await first.view?.isRefreshing == true)
    let written = try #require(await first.kill())
    let second = try await DurableHost(store(true), after: written, for: .seconds(3))
    await second.until { !$0.isRefreshing && $0.lastResponse == response }
    #expect(await second.view?.infoText.contains("Today") == true)
    var lost = written
    (lost.accepted, lost.lacksInputs) = ([], true)
    let idle = try await DurableHost(store(true), after: lost, for: .zero)
    #expect(await idle.view?.isRefreshing == false)
    let rest = try #require(await second.kill())
    #expect(rest.accepted.isEmpty)
    // The new day is shown immediately if it began without a process, otherwise when it begins.
    let third = try await DurableHost(store(true), after: rest, for: .seconds(86_400))
    #expect(await third.view?.infoText.contains("Yesterday") == true)
    await third.wait(sleepers: 1)
    #expect(await third.state?.generation == 2)
  }

  @Test("a restored load runs again, and a debounced one waits for the rest of its interval")
  func loading() async throws {
    let value = try LoadedValue(json: Array("7".utf8))
    func store(_ seconds: Int, wait: Duration?) -> LoadingStore {
      let loader = Loader { context in
        try? await context.clock.sleep(for: .seconds(seconds))
        return .loaded(value)
      }
      return LoadingStore(wait.map { loader.debounced(for: $0) } ?? loader)
    }
    let first = try await DurableHost(store(5, wait: nil))
    try await first.send(.load)
    await first.wait(sleepers: 1)
    let written = try #require(await first.kill())
    let second = try await DurableHost(store(5, wait: nil), after: written, for: .seconds(4))
    #expect(await second.view == .loading(progress: nil))
    await second.wait(sleepers: 1)
    #expect(second.clock.nextDeadline?.offset == .seconds(5))
    second.clock.advance(to: second.clock.now.advanced(by: .seconds(5)))
    await second.until { $0.shown == .loaded(value: value) }

    let waiting = try await DurableHost(store(5, wait: .seconds(10)))
    try await waiting.send(.load)
    await waiting.wait(sleepers: 1)
    let half = try #require(await waiting.kill())
    let rest = try await DurableHost(store(5, wait: .seconds(10)), after: half, for: .seconds(4))
    #expect(await rest.view == .idle)
    await rest.wait(sleepers: 1)
    #expect(rest.clock.nextDeadline?.offset == .seconds(6))
    // The interval is over, so the load begins immediately.
    let late = try await DurableHost(store(5, wait: .seconds(10)), after: half, for: .seconds(11))
    #expect(await late.view == .loading(progress: nil))

    // If the input of the load is lost, no load runs, and the state must not say that one does.
    var lost = written
    (lost.accepted, lost.lacksInputs) = ([], true)
    let idle = try await DurableHost(store(5, wait: nil), after: lost, for: .zero)
    #expect(await idle.view == .idle && idle.clock.sleeperCount == 0)
    try await idle.send(.loadIfNotLoading)
    await idle.wait(sleepers: 1)

    // A cancelled load remains cancelled.
    try await late.send(.cancel)
    let stopped = try #require(await late.kill())
    let still = try await DurableHost(store(5, wait: nil), after: stopped, for: .zero)
    let view = await still.view
    guard case .loading(let progress?) = view else {
      Issue.record("unexpected view state \(String(describing: view))")
      return
    }
    #expect(progress.isCancelled && still.clock.sleeperCount == 0)
  }
}

/// A repository that responds after one second and records the operation id of each call.
private final class NotingRepository: TodoRepository {
  /// The calls that it has received.
  private let calls: Record<String>

  init(calls: Record<String>) { self.calls = calls }

  func getTodos(_ held: TodoList) -> Effect<TodoResult> {
    .run("getTodos") { [calls] context in
      calls.add("getTodos")
      await context.becomeFeed(sending: .todos([Todo(id: "a", title: "A")]))
    }
    .refreshing("todos")
  }

  func perform(_ operation: TodoOperation, on held: TodoList) -> Effect<TodoResult> {
    .identified { [calls] id in
      .run(operation.name) { context in
        calls.add("\(operation.name) \(id?.description ?? "without id")")
        do { try await context.sleep(for: .seconds(1)) } catch { return }
        await context.send(.done)
      }
    }
  }
}

/// A service that responds immediately or never.
private struct LateService: BalanceService {
  let response: BalanceResponse
  let isThere: Bool

  func balance() -> Effect<BalanceResult> {
    isThere
      ? .action(.response(response))
      : .run("balance") { context in try? await context.sleep(for: .seconds(1_000_000)) }
  }
}
