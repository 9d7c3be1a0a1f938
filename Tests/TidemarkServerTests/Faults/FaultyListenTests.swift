import Testing
import TidemarkModel

@testable import TidemarkServer

struct FaultyListenTests {
    private func world(_ rule: String) throws -> FaultyServer {
        let world = try FaultyServer("rpc=Listen," + rule)
        try world.server.commit(set("c/a", [:]))
        return world
    }

    private let all = target(1, collection("c"))

    @Test func `tokens come empty`() throws {
        let world = try world("drop-tokens")
        let responses = world.listen().add(all)
        #expect(brief(responses) == ["ADD 1", "a+1", "CURRENT 1", "|"])
        for case .targetChange(let change) in responses { #expect(change.resumeToken == []) }
    }

    @Test func `documents come twice, and nothing else`() throws {
        let world = try world("duplicate")
        let listen = world.listen()
        #expect(brief(listen.add(all)) == ["ADD 1", "a+1", "a+1", "CURRENT 1", "|"])
        try world.server.commit(delete("c/a"))
        #expect(brief(listen.take()) == ["a deleted-1", "a deleted-1", "|"])
    }

    @Test func `CURRENT is late, and what follows it too`() throws {
        let world = try world("delay-current=2s")
        let listen = world.listen()
        #expect(brief(listen.add(all)) == ["ADD 1", "a+1"])
        try world.server.commit(set("c/b", [:]))
        #expect(brief(listen.take(after: .milliseconds(1_999))) == [])
        #expect(brief(listen.take(after: .milliseconds(1))) == ["CURRENT 1", "|", "b+1", "|"])
    }

    @Test func `a reset is followed by the whole state, and acknowledged to nobody`() throws {
        let world = try world("reset")
        let listen = world.listen()
        #expect(
            brief(listen.add(all)) == [
                "ADD 1", "a+1", "CURRENT 1", "|", "RESET 1", "a+1", "CURRENT 1", "|",
            ])
        try world.server.commit(set("c/b", [:]), delete("c/a"))
        #expect(brief(listen.take()) == ["b+1", "a deleted-1", "|"])
        listen.stream.send(.remove(targetID: 1))
        #expect(brief(listen.take()) == ["REMOVE 1"])
    }

    @Test func `a reset may come later, and takes all targets that are current`() throws {
        let world = try world("reset=3")
        let listen = world.listen()
        _ = listen.add(all)
        _ = listen.add(target(3, collection("d")))
        try world.server.commit(set("d/x", [:]))
        #expect(
            brief(listen.take()) == [
                "x+3", "|", "RESET 1", "a+1", "CURRENT 1", "|", "RESET 3", "x+3", "CURRENT 3", "|",
            ])
        try world.server.commit(set("d/x", ["n": .integer(1)]))
        #expect(brief(listen.take()) == ["x+3", "|"])
    }

    @Test func `a target that is removed during its reset hears its own answers only`() throws {
        var faults = ListenFaults(try FaultRule("reset").effects)
        func told(_ kind: TargetChange.Kind, _ ids: [Int32] = [1]) -> [String] {
            let readTime = ids.isEmpty ? Timestamp(microseconds: 1) : nil
            let change = TargetChange(kind, targetIDs: ids, readTime: readTime)
            return brief(faults.received(.targetChange(change)).toClient)
        }
        _ = faults.sent(.add(all, labels: [:]))
        #expect(told(.add) == ["ADD 1"])
        #expect(told(.current) == ["CURRENT 1"])
        #expect(told(.noChange, []) == ["|"])
        // The fault now asks the server to send everything again, and the client removes the target
        // at the same time.
        _ = faults.sent(.remove(targetID: 1))
        #expect(told(.remove) == [])
        #expect(told(.add) == [])
        #expect(told(.remove) == ["REMOVE 1"])
        _ = faults.sent(.add(all, labels: [:]))
        #expect(told(.add) == ["ADD 1"])
    }

    @Test func `a filter is false once, and holds every name`() throws {
        let world = try world("false-filter=2")
        let listen = world.listen()
        let responses = listen.add(all)
        #expect(brief(responses) == ["ADD 1", "a+1", "CURRENT 1", "FILTER 1=3 bloom", "|"])
        for case .existenceFilter(let filter) in responses {
            #expect(filter.unchangedNames?.bitmap.allSatisfy { $0 == 0xFF } == true)
        }
        // The client requests the target again and receives it.
        listen.stream.send(.remove(targetID: 1))
        _ = listen.take()
        #expect(brief(listen.add(all)) == ["ADD 1", "a+1", "CURRENT 1", "|"])
        try world.server.commit(set("c/b", [:]))
        #expect(brief(listen.take()) == ["b+1", "|"])
    }

    @Test func `a filter of the server is made false`() throws {
        let world = try world("false-filter=5")
        let mark = token(world.server.listen().add(target(1, collection("c"))))
        let resumed = target(1, collection("c"), from: .token(mark), expecting: 7)
        let told = brief(world.listen().add(resumed))
        #expect(told.contains("FILTER 1=6 bloom"))
    }

    @Test func `a cut ends both sides`() throws {
        let world = try world("cut=after:2")
        let listen = world.listen()
        #expect(brief(listen.add(all)) == ["ADD 1", "a+1"])
        #expect(listen.heard.status?.code == .unavailable)
        world.server.server.resetMeter()
        try world.server.commit(set("c/b", [:]))
        world.run()
        // The server bills no read, because no listen is open.
        #expect(world.server.server.meter().reduce(0) { $0 + $1.reads } == 0)
    }

    @Test func `silence hears nothing, and the server is not asked`() throws {
        let world = try world("silence")
        let listen = world.listen()
        #expect(listen.add(all).isEmpty)
        listen.stream.finish()
        world.run(for: .seconds(600))
        #expect(listen.heard.status == nil)
        listen.stream.cancel()
        #expect(listen.heard.status?.code == .cancelled)
        #expect(world.server.server.meter().allSatisfy { $0.reads == 0 })
    }

    @Test func `jitter keeps the order of a stream`() throws {
        let world = try FaultyServer("latency=100ms,jitter=100ms", seed: 7)
        let listen = world.listen()
        _ = listen.add(all)
        var told = brief(listen.take(after: .seconds(1)))
        for number in 0..<50 {
            try world.server.commit(set("c/\(number)", [:]))
            told += brief(listen.take(after: .milliseconds(10)))
        }
        told += brief(listen.take(after: .seconds(1)))
        #expect(told == ["ADD 1", "CURRENT 1", "|"] + (0..<50).flatMap { ["\($0)+1", "|"] })
    }
}
