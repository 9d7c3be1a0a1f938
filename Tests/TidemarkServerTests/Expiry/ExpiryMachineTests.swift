import Testing
import TidemarkModel

@testable import TidemarkServer

struct `The search for expired documents` {
    private typealias Effect = ExpiryMachine.Effect
    private let most = ExpiryMachine.partSize

    private func documents(_ names: [String]) throws -> [ExpiredDocument] {
        let database = try DatabaseID(project: "test")
        return names.map {
            ExpiredDocument(
                database: database, path: path("a/\($0)"),
                updateTime: Timestamp(seconds: 1, nanoseconds: 0))
        }
    }

    @Test func `pauses when nothing is found`() {
        var machine = ExpiryMachine()
        #expect(machine.step(.clockSet) == [.find(most: most)])
        #expect(machine.step(.found([])) == [.startTimer(1)])
        #expect(machine.step(.timer(1)) == [.find(most: most)])
        #expect(machine.step(.found([])) == [.startTimer(2)])
    }

    @Test func `goes on until nothing is left`() throws {
        var machine = ExpiryMachine()
        let two = try documents(["x", "y"])
        _ = machine.step(.clockSet)
        #expect(machine.step(.found(two)) == [.delete(two)])
        #expect(machine.step(.tried(kept: [])) == [.find(most: most)])
        #expect(machine.step(.found([])) == [.startTimer(1)])
    }

    @Test func `passes over what could not be deleted, until the next search`() throws {
        var machine = ExpiryMachine()
        let two = try documents(["x", "y"])
        _ = machine.step(.clockSet)
        _ = machine.step(.found(two))
        #expect(machine.step(.tried(kept: [two[0]])) == [.find(most: most + 1)])
        #expect(machine.step(.found([two[0]])) == [.startTimer(1)])
        #expect(machine.step(.timer(1)) == [.find(most: most)])
        #expect(machine.step(.found([two[0]])) == [.delete([two[0]])])
    }

    @Test func `ends when too much could not be deleted`() throws {
        var machine = ExpiryMachine()
        var effects = machine.step(.clockSet)
        var next = 0
        while case .find? = effects.first {
            let part = try documents((0..<most).map { "\(next + $0)" })
            next += most
            _ = machine.step(.found(part))
            effects = machine.step(.tried(kept: part))
        }
        #expect(effects == [.startTimer(1)] && next == ExpiryMachine.maxKept)
    }

    @Test func `searches again if the clock is set meanwhile, and ignores old timers`() {
        var machine = ExpiryMachine()
        _ = machine.step(.clockSet)
        #expect(machine.step(.clockSet) == [])
        #expect(machine.step(.found([])) == [.find(most: most)])
        #expect(machine.step(.found([])) == [.startTimer(1)])
        #expect(machine.step(.clockSet) == [.find(most: most)])
        #expect(machine.step(.timer(1)) == [])
        #expect(machine.step(.found([])) == [.startTimer(2)])
        #expect(machine.step(.timer(1)) == [])
    }
}
