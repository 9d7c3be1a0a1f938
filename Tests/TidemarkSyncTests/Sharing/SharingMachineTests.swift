import Testing
import TidemarkModel

@testable import TidemarkSync

struct `Who holds a shared cache` {
    private typealias Machine = SharingMachine
    private let soon = Machine.pauseOfViewer
    private let later = Machine.pauseOfHolder

    @Test func `a holder takes what is left in its inbox`() {
        var machine = Machine(.app)
        #expect(machine.step(.opened(isView: false), at: .zero) == [.look(after: later)])
        let (empty, full) = (
            Machine.Observation.inbox(hasWrites: false, isWanted: false),
            Machine.Observation.inbox(hasWrites: true, isWanted: false)
        )
        #expect(machine.step(.looked(empty), at: .zero) == [.look(after: later)])
        #expect(machine.step(.looked(full), at: .zero) == [.look(after: later), .takeWrites])
        #expect(machine.step(.took(all: true), at: .zero) == [])
        #expect(machine.step(.took(all: false), at: .zero) == [.look(after: .zero)])
    }

    @Test func `an app asks a holder for the cache, a helper waits`() {
        for (role, asks) in [(SyncEngine.ProcessRole.app, true), (.helper, false)] {
            var machine = Machine(role)
            #expect(machine.step(.opened(isView: true), at: .zero) == [.look(after: soon)])
            let effects = machine.step(.looked(.copy(isOutdated: false)), at: .zero)
            #expect(effects == [.look(after: soon), .tryToHold])
            #expect(machine.step(.isHeld, at: .zero) == (asks ? [.askForCache] : []))
            #expect(machine.step(.tookOver, at: .zero) == [.takeWrites, .look(after: later)])
        }
    }

    @Test func `a helper hands over, and leaves the one who asked the time to take it`() {
        let wanted = Machine.Observation.inbox(hasWrites: true, isWanted: true)
        var app = Machine(.app)
        _ = app.step(.opened(isView: false), at: .zero)
        #expect(app.step(.looked(wanted), at: .zero) == [.look(after: later), .takeWrites])
        var helper = Machine(.helper)
        _ = helper.step(.opened(isView: false), at: .zero)
        let start = Duration.seconds(9)
        #expect(helper.step(.looked(wanted), at: start) == [.handOver])
        #expect(helper.step(.handedOver, at: start) == [.look(after: soon)])
        let observation = Machine.Event.looked(.copy(isOutdated: false))
        #expect(helper.step(observation, at: start + .milliseconds(1_999)) == [.look(after: soon)])
        #expect(
            helper.step(observation, at: start + Machine.timeToTake) == [
                .look(after: soon), .tryToHold,
            ])
    }

    @Test func `copies are made one at a time, and take a tenth of the time at most`() {
        var machine = Machine(.helper)
        _ = machine.step(.opened(isView: true), at: .zero)
        let old = Machine.Event.looked(.copy(isOutdated: true))
        #expect(machine.step(old, at: .zero) == [.look(after: soon), .tryToHold, .copy])
        #expect(machine.step(old, at: soon) == [.look(after: soon)])
        #expect(machine.step(.copied(took: .milliseconds(50)), at: soon) == [])
        #expect(
            machine.step(old, at: soon + .milliseconds(449)) == [.look(after: soon), .tryToHold])
        #expect(machine.step(old, at: soon + .milliseconds(450)) == [.look(after: soon), .copy])
    }

    @Test func `a copy that comes after the cache was taken over changes nothing`() {
        var machine = Machine(.helper)
        _ = machine.step(.opened(isView: true), at: .zero)
        _ = machine.step(.looked(.copy(isOutdated: true)), at: .zero)
        _ = machine.step(.tookOver, at: .zero)
        let before = machine
        #expect(machine.step(.copied(took: .seconds(1)), at: .seconds(1)) == [])
        #expect(machine == before)
    }

    @Test func `nothing is looked for while the client is suspended`() {
        var machine = Machine(.app)
        _ = machine.step(.opened(isView: false), at: .zero)
        #expect(machine.step(.paused, at: .zero) == [])
        let observation = Machine.Observation.inbox(hasWrites: true, isWanted: true)
        #expect(machine.step(.looked(observation), at: .zero) == [])
    }
}

struct `Writes that are left for another process` {
    private static let time = Timestamp(microseconds: 1_700_000_000_123_456)

    private func write(_ user: String?) -> SharedWrite {
        SharedWrite(
            time: Self.time, user: user,
            mutations: [
                Mutation(path: DocumentPath(unchecked: "a/b"), .set(["n": .integer(1)])),
                Mutation(path: DocumentPath(unchecked: "a/c"), .delete),
            ])
    }

    @Test func `are read as they were written, whoever's they are`() throws {
        for user in [nil, "ann", String(repeating: "ü", count: 64)] {
            let write = write(user)
            #expect(try SharedWrite(write.bytes) == write)
        }
    }

    @Test func `of half a message there is none`() {
        let bytes = write("ann").bytes
        for length in bytes.indices {
            #expect(throws: DamagedRecord.self) { try SharedWrite(Array(bytes.prefix(length))) }
        }
    }

    @Test func `have names in their order, whatever the clock does`() {
        var (one, other) = (SharedWriteNames(process: 1), SharedWriteNames(process: .max))
        let back = Timestamp(microseconds: 5)
        let names = [Self.time, Self.time, back, Self.time].map { one.next(at: $0) }
        #expect(names == names.sorted() && Set(names).count == 4)
        #expect(!names.contains(other.next(at: Self.time)))
        #expect(Set(names.map(\.count)) == [34])
    }
}
