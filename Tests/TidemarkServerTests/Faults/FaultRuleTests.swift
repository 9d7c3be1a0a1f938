import Testing
import TidemarkModel
import TidemarkServer

/// Parses rules from text. A plan counts the calls and draws random numbers.
struct FaultRuleTests {
    @Test func `a rule says which calls and what happens`() throws {
        let rule = try FaultRule(
            "rpc=Commit, label=app,share=0.3,times=2,latency=400ms,jitter=0.1s,error=UNAVAILABLE")
        #expect(rule.method == .commit)
        #expect(rule.label == "app")
        #expect(rule.selection == .share(0.3))
        #expect(rule.times == 2)
        #expect(rule.effects.latency == .milliseconds(400))
        #expect(rule.effects.jitter == .milliseconds(100))
        #expect(rule.effects.error?.code == .unavailable)
    }

    @Test(arguments: [
        "rpc=Listen,every=3,reset=2,false-filter=4,delay-current=2000.0ms,duplicate,drop-tokens",
        "nth=2,latency=1.5s,bandwidth=1000,silence", "cut=before:3", "cut=after:1,lose-response",
        "label=x,error=ABORTED,text=Too much contention, please try again.",
    ])
    func `a rule reads back what it prints`(text: String) throws {
        let rule = try FaultRule(text)
        #expect(try FaultRule("\(rule)") == rule)
    }

    @Test(arguments: [
        ("", "must say what happens"), ("rpc=Commit", "must say what happens"),
        ("rpc=Commmit,silence", "GetDocument, ListDocuments"), ("share=2,silence", "0 to 1"),
        ("share=nan,silence", "0 to 1"), ("latency=5", "400ms"), ("latency=-1s", "400ms"),
        ("latency=infs", "400ms"), ("latency=2h", "400ms"), ("cut=3", "before:N"),
        ("cut=after:0", "before:N"), ("error=OK", "UNAVAILABLE"), ("error=oops", "UNAVAILABLE"),
        ("silence=no", "without a value"), ("silence,silence", "twice"),
        ("every=0,silence", "from 1"), ("every=2,nth=3,silence", "one of share="),
        ("jitter=1s,silence", "latency="), ("text=x,silence", "error="),
        ("rpc=Commit,reset", "for Listen"), ("colour=red,silence", "of a fault: \"colour\""),
        ("times=99999999999999999999,silence", "from 1"), ("=,silence", "Unknown part"),
    ])
    func `what is no rule is refused with a sentence`(text: String, part: String) {
        do {
            let rule = try FaultRule(text)
            Issue.record("\(text) became \(rule)")
        } catch {
            #expect(error.message.contains(part), "\(error.message)")
        }
    }

    private func applied(
        _ text: String, rolls: [Double] = [], calls: Int = 10, _ method: RPCMethod = .commit
    ) throws -> [Int] {
        var plan = FaultPlan([try FaultRule(text)])
        var rolls = rolls.makeIterator()
        return (1...calls).filter { _ in
            plan.effects(on: method, label: "app") { rolls.next() ?? 0 } != nil
        }
    }

    @Test func `calls are chosen by number, share and limit`() throws {
        #expect(try applied("silence") == Array(1...10))
        #expect(try applied("every=4,silence") == [4, 8])
        #expect(try applied("nth=3,silence") == [3])
        #expect(try applied("times=2,silence") == [1, 2])
        #expect(try applied("every=2,times=2,silence") == [2, 4])
        let rolls = [0.0, 0.29, 0.3, 0.9, 0.1]
        #expect(try applied("share=0.3,silence", rolls: rolls, calls: 5) == [1, 2, 5])
        #expect(try applied("share=0,silence", calls: 3) == [])
        #expect(try applied("label=other,silence") == [])
        #expect(try applied("rpc=RunQuery,silence") == [])
    }

    @Test func `of two rules that say the same, the first counts, and both are counted`() throws {
        var plan = FaultPlan([
            try FaultRule("rpc=Commit,error=ABORTED"), try FaultRule("latency=1s,error=INTERNAL"),
        ])
        let effects = plan.effects(on: .commit, label: nil) { 0 }
        #expect(effects?.error?.code == .aborted)
        #expect(effects?.latency == .seconds(1))
        _ = plan.effects(on: .runQuery, label: nil) { 0 }
        #expect(plan.entries.map(\.matched) == [1, 2])
        #expect(plan.entries.map(\.applied) == [1, 2])
    }

    @Test func `thirty of a hundred calls fail on a flaky network, half of them afterwards`() {
        var plan = FaultPlan(NetworkProfile.flaky.rules)
        var chance = SeededRandom(seed: 1)
        var before = 0
        var after = 0
        for _ in 0..<20_000 {
            let effects = plan.effects(on: .commit, label: nil) {
                .random(in: 0..<1, using: &chance)
            }
            if effects?.error != nil {
                before += 1
            } else if effects?.losesResponse == true {
                after += 1
            }
        }
        #expect((2_800...3_200).contains(before))
        #expect((2_800...3_200).contains(after))
    }
}
