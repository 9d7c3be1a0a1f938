import Dispatch
import Foundation
import Synchronization
import Testing
import TidemarkModel

@testable import TidemarkPipelines

/// Apple's systems give a thread 512 KiB of stack.
@Suite struct `The largest pipelines` {
    private func runsInSmallStack(_ pipeline: Pipeline) -> Int? {
        let count = Mutex<Int?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        let thread = Thread {
            count.withLock { count in
                count = try? rows(pipeline, over: ListSource(books)).count
            }
            isDone.signal()
        }
        thread.stackSize = 512 * 1_024
        thread.start()
        isDone.wait()
        return count.withLock { $0 }
    }

    @Test func `fit into the stack of a small thread`() {
        let source = pipeline("collection ref'/books'").stages
        for line in ["where exists(t)", "add_fields {x: t}", "unnest [1], u", "offset 0"] {
            let stages = source + Array(repeating: pipeline(line).stages[0], count: 199)
            #expect(runsInSmallStack(Pipeline(stages: stages)) == 5, "\(line)")
        }
        var deep = Pipeline.Expression.field("t")
        for _ in 0..<95 {
            deep = .call("if_error", [.call("error", [.constant(.string(""))]), deep])
        }
        let select = Pipeline.Stage(
            name: "select", arguments: [.map([.init(key: "x", value: deep)])])
        #expect(runsInSmallStack(Pipeline(stages: source + [select])) == 5)

        var nested = pipeline("collection ref'/books'\nlimit 1\nselect {a: t}")
        for _ in 0..<20 {
            let entry = Pipeline.Entry(key: "a", value: .call("array", [.pipeline(nested)]))
            nested = Pipeline(
                stages: source + pipeline("limit 1").stages
                    + [.init(name: "select", arguments: [.map([entry])])])
        }
        #expect(runsInSmallStack(nested) == 1)
    }
}
