// SPDX-License-Identifier: Apache-2.0

import StateMachines
import Testing

@Suite("Expiring cache")
struct ExpiringCacheTests {
  @Test("the cache keeps a value until it expires")
  func time() {
    let cache = ExpiringCache<String, Int>()
    cache.insert(1, for: "a", keeping: .seconds(10), now: .seconds(5))
    #expect(cache.value(for: "a", now: .seconds(5)) == 1)
    #expect(cache.value(for: "a", now: .seconds(15) - .nanoseconds(1)) == 1)
    #expect(cache.value(for: "b", now: .seconds(5)) == nil)
    #expect(cache.value(for: "a", now: .seconds(15)) == nil)
    #expect(cache.count == 0, "a lookup removes an expired value")
    cache.insert(2, for: "a", keeping: .zero, now: .seconds(5))
    #expect(cache.count == 0)
  }

  @Test("a newer value replaces an older one, and a removed value is gone")
  func replacing() {
    let cache = ExpiringCache<String, Int>(capacity: 1)
    cache.insert(1, for: "a", keeping: .seconds(10), now: .zero)
    cache.insert(2, for: "a", keeping: .seconds(20), now: .seconds(1))
    #expect(cache.value(for: "a", now: .seconds(20)) == 2)
    cache.remove("a")
    #expect(cache.value(for: "a", now: .seconds(20)) == nil)
  }

  @Test("the cache evicts values for a large one, and does not keep a value above the maximum size")
  func size() {
    let cache = ExpiringCache<Int, String>(maximumSize: 5) { $0.utf8.count }
    for key in 1...3 {
      cache.insert("xx", for: key, keeping: .seconds(key * 10), now: .zero)
    }
    #expect((1...3).map { cache.value(for: $0, now: .zero) } == [nil, "xx", "xx"])
    cache.insert("xxx", for: 3, keeping: .seconds(30), now: .zero)
    #expect((2...3).map { cache.value(for: $0, now: .zero) } == ["xx", "xxx"])
    cache.insert("xxxxxx", for: 2, keeping: .seconds(10), now: .zero)
    #expect((2...3).map { cache.value(for: $0, now: .zero) } == [nil, "xxx"])
  }

  @Test("caches with one quota evict only their own values, and return the size of removed ones")
  func quota() {
    let quota = CacheQuota(maximum: 5)
    func cache() -> ExpiringCache<Int, String> { ExpiringCache(within: quota) { $0.utf8.count } }
    let one = cache()
    var other: ExpiringCache? = cache()
    func insert(_ value: String, _ key: Int, until end: Int) {
      one.insert(value, for: key, keeping: .seconds(end), now: .zero)
    }
    func kept() -> [String?] { (1...3).map { one.value(for: $0, now: .zero) } }
    insert("a", 1, until: 10)
    insert("b", 2, until: 20)
    other?.insert("xxx", for: 1, keeping: .seconds(10), now: .zero)
    insert("c", 3, until: 30)
    #expect(kept() == [nil, "b", "c"])
    // The other cache leaves no room for it, so no value is evicted for it.
    insert("ddd", 1, until: 10)
    #expect(kept() == [nil, "b", "c"])
    #expect(other?.value(for: 1, now: .zero) == "xxx")
    other = nil
    insert("ddd", 1, until: 10)
    #expect(kept() == ["ddd", "b", "c"])
    one.remove(1)
    #expect(one.value(for: 2, now: .seconds(20)) == nil)
    // Expired values are removed also for a value for which there is no room.
    one.insert("too long", for: 4, keeping: .seconds(10), now: .seconds(30))
    #expect(one.count == 0)
    let last = cache()
    last.insert("yyyy", for: 1, keeping: .seconds(10), now: .zero)
    #expect(last.value(for: 1, now: .zero) == "yyyy")
  }

  @Test("the cache evicts expired values first, then the value that expires first")
  func capacity() {
    let cache = ExpiringCache<Int, Int>(capacity: 3)
    for key in 1...3 { cache.insert(key, for: key, keeping: .seconds(40 - key * 10), now: .zero) }
    cache.insert(4, for: 4, keeping: .seconds(99), now: .zero)
    #expect((1...4).map { cache.value(for: $0, now: .zero) } == [1, 2, nil, 4])
    // 1 and 2 have expired.
    cache.insert(5, for: 5, keeping: .seconds(99), now: .seconds(30))
    #expect(cache.count == 2)
  }

  @Test("cancelled work inserts no value")
  func cancelled() async {
    let cache = ExpiringCache<String, Int>()
    await withTaskGroup(of: Void.self) { group in
      group.cancelAll()
      group.addTask { cache.insert(1, for: "a", keeping: .seconds(10), now: .zero) }
    }
    #expect(cache.count == 0)
  }

  // Regression: all sizes were summed again for each evicted value.
  @Test("the cache measures each size once, also when a large value evicts many small ones")
  func cost() {
    let looks = Lock(0)
    let cache = ExpiringCache<Int, Int>(maximumSize: 1_000) { size in
      looks.withLock { $0 += 1 }
      return size
    }
    for key in 0..<900 {
      cache.insert(1, for: key, keeping: .seconds(10 + (key * 7) % 900), now: .zero)
    }
    cache.insert(1_000, for: 1_000, keeping: .seconds(5), now: .zero)
    #expect(cache.count == 1 && looks.withLock { $0 } == 901)
  }

  @Test("values that expire at the same time are distinct after replacements and removals")
  func sameEnds() {
    let cache = ExpiringCache<Int, Int>(capacity: 4)
    for key in 1...4 { cache.insert(key, for: key, keeping: .seconds(10), now: .zero) }
    cache.remove(2)
    cache.insert(30, for: 3, keeping: .seconds(10), now: .zero)
    cache.insert(5, for: 5, keeping: .seconds(10), now: .zero)
    #expect((1...5).map { cache.value(for: $0, now: .zero) } == [1, nil, 30, 4, 5])
    cache.insert(6, for: 6, keeping: .seconds(10), now: .zero)
    #expect((1...6).map { cache.value(for: $0, now: .zero) } == [nil, nil, 30, 4, 5, 6])
    #expect(cache.value(for: 3, now: .seconds(10)) == nil && cache.count == 3)
  }
}
