import Testing
import TidemarkModel
import TidemarkServer

@testable import TidemarkDemo

struct `A network of the demo` {
    private func plan(_ network: DemoNetwork, label: String) throws -> FaultPlan {
        FaultPlan(try network.faults(label: label).map { try FaultRule($0.rule) })
    }

    @Test func `fails three calls of every ten, the first after it was billed`() throws {
        var plan = try plan(.failing, label: "chat.after")
        var failed: [Int] = []
        var billed: [Int] = []
        for call in 1...DemoNetwork.plannedCalls {
            let effects = plan.effects(on: .runQuery, label: "chat.after") { 0.99 }
            if effects?.error != nil { failed.append(call) }
            if effects?.losesResponse == true { billed.append(call) }
        }
        #expect(billed == [1, 11, 21, 31, 41, 51])
        #expect(failed == [2, 6, 12, 16, 22, 26, 32, 36, 42, 46, 52, 56])
    }

    @Test func `fails nobody else's calls`() throws {
        var plan = try plan(.failing, label: "chat.after")
        for _ in 0..<20 {
            #expect(plan.effects(on: .runQuery, label: "check") { 0 } == nil)
            #expect(plan.effects(on: .commit, label: nil) { 0 } == nil)
        }
    }

    @Test func `cuts the first listen that gets through`() throws {
        var plan = try plan(.failing, label: "chat.before")
        let cuts = (1...4).map { _ in
            plan.effects(on: .listen, label: "chat.before") { 0.99 }?.cut
        }
        #expect(cuts == [nil, nil, .after(20), nil])
    }

    @Test(arguments: [DemoNetwork.healthy, .threeG, .offline])
    func `orders no faults where the network is what is bad`(network: DemoNetwork) {
        #expect(network.faults(label: "chat.after").isEmpty)
    }
}
