// SPDX-License-Identifier: Apache-2.0

import InMemoryTracing
import Sessions
import Testing
import Tracing

@testable import TraceExport

@Suite("Spans by swift-distributed-tracing")
struct SampledTracerTests {
  @Test("a ratio of 0 selects nothing, of 1 everything, and of a half about a half")
  func ratios() {
    func selected(_ ratio: Double) -> Int {
      let tracer = SampledTracer(InMemoryTracer(), ratio: ratio)
      return (0..<1000).count { _ in tracer.samples() }
    }
    #expect(selected(0) == 0 && selected(-1) == 0)
    #expect(selected(1) == 1000 && selected(7) == 1000)
    #expect(300...700 ~= selected(0.5))
  }

  @Test("spans of inputs, effects and an author's own code are one tree, by any tracer")
  func trees() throws {
    let memory = InMemoryTracer()
    let input = SampledTracer(memory, ratio: 1).begin(continuing: nil)
    input.describe("todo todoAdded", [("statewire.store", "todo")])
    let effect = input.child(.effect, "append")
    effect.enclose {
      #expect(CurrentSpan.value != nil)
      memory.startSpan("own").end()
    }
    #expect(CurrentSpan.value == nil)
    let names = [InMemoryTracer.traceIDKey, InMemoryTracer.spanIDKey]
    #expect(effect.headers.map(\.name) == names.sorted())
    effect.end(.failed)
    input.end(.cancelled)
    let spans = memory.finishedSpans
    #expect(spans.map(\.operationName) == ["own", "append", "todo todoAdded"])
    #expect(spans[0].spanContext.parentSpanID == spans[1].spanContext.spanID)
    #expect(spans[1].spanContext.parentSpanID == spans[2].spanContext.spanID)
    #expect(spans[1].status?.code == .error && spans[2].status == nil)
    #expect(spans[2].attributes.get("statewire.store") == .string("todo"))
    #expect(spans[2].attributes.get("statewire.cancelled") == .bool(true))
    #expect(spans.map(\.kind) == [.internal, .internal, .server])
  }

  @Test("a full queue drops new spans and counts them")
  func queue() {
    let queue = SpanQueue()
    let tracer = OTLPTracer(queue)
    for _ in 0..<SpanQueue.capacity + 3 { tracer.startSpan("work").end() }
    #expect(queue.takeDropped() == 3)
    #expect(queue.takeDropped() == 0)
    #expect(queue.take(atMost: .max).count == SpanQueue.capacity)
    #expect(queue.take(atMost: 1).isEmpty)
  }

  @Test("a span ends once, and nothing is added to it later")
  func ends() {
    let queue = SpanQueue()
    let span = OTLPTracer(queue).startSpan("work")
    span.operationName = "other work"
    span.end()
    span.operationName = "late"
    span.end()
    let records = queue.take(atMost: .max)
    #expect(records.map(\.name) == ["other work"])
    #expect(!span.isRecording)
  }
}
