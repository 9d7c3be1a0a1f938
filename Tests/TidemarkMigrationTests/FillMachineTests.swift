import Testing
import TidemarkModel

@testable import TidemarkMigration

/// Plays a migration event by event.
struct FillMachineTests {
    private func path(_ id: String) -> DocumentPath { DocumentPath(unchecked: "posts/\(id)") }
    private func time(_ seconds: Int64) -> Timestamp { Timestamp(seconds: seconds, nanoseconds: 0) }

    private func seen(
        _ id: String, _ changeTime: ChangeTime = .missing, at seconds: Int64 = 10
    ) -> SeenDocument {
        SeenDocument(path: path(id), changeTime: changeTime, updateTime: time(seconds))
    }

    private func stamp(_ id: String, at seconds: Int64 = 10, attempts: Int = 0)
        -> FillMachine.Stamp
    {
        FillMachine.Stamp(path: path(id), updateTime: time(seconds), attempts: attempts)
    }

    /// Returns a machine that has read a page and kept its start.
    private func started(
        _ page: [SeenDocument], rate: Int = 500
    ) throws -> (machine: FillMachine, effect: FillMachine.Effect) {
        var machine = FillMachine(FillProgress(), rate: rate)
        #expect(machine.start() == .read(after: nil, limit: FillMachine.pageSize))
        let save = machine.step(.page(page, readTime: time(100)), at: .zero)
        guard case .save(let start) = save else {
            Issue.record("\(save)")
            return (machine, save)
        }
        #expect(start.cursor == nil && start.documents == 0, "nothing is done yet")
        #expect(start.window == WrittenWindow(from: time(100), to: time(100)))
        let effect = machine.step(.saved, at: .zero)
        return (machine, effect)
    }

    @Test func `only documents without the field are written, with their own time`() throws {
        var (machine, effect) = try started([
            seen("a"), seen("b", .time(time(5))), seen("c", .other("number")), seen("d", at: 20),
        ])
        #expect(effect == .write([stamp("a"), stamp("d", at: 20)]))
        effect = machine.step(
            .written([.done(updateTime: time(101)), .done(updateTime: time(102))]), at: .zero)
        guard case .save(let progress) = effect else {
            Issue.record("\(effect)")
            return
        }
        #expect(progress.isFinished && progress.cursor == "posts/d")
        #expect(progress.documents == 4 && progress.filled == 2 && progress.present == 1)
        #expect(progress.wrongType.first == ["posts/c: number"])
        #expect(progress.reads == 4 && progress.writes == 2)
        #expect(progress.window == WrittenWindow(from: time(100), to: time(102)))
        #expect(machine.step(.saved, at: .zero) == .end(.finished))
    }

    @Test func `a page without work is not saved twice`() {
        var machine = FillMachine(FillProgress(), rate: 500)
        _ = machine.start()
        let effect = machine.step(
            .page([seen("a", .time(time(5)))], readTime: time(100)), at: .zero)
        #expect(effect == .save(machine.progress) && machine.progress.isFinished)
    }

    @Test func `an empty collection costs one read`() {
        var machine = FillMachine(FillProgress(), rate: 500)
        _ = machine.start()
        let effect = machine.step(.page([], readTime: time(100)), at: .zero)
        #expect(effect == .save(machine.progress))
        #expect(machine.progress.reads == 1 && machine.progress.isFinished)
    }

    @Test func `a full page is followed by the next, behind its last document`() throws {
        let page = (0..<FillMachine.pageSize).map { seen("p\(1_000 + $0)", .time(time(5))) }
        var machine = FillMachine(FillProgress(), rate: 500)
        _ = machine.start()
        let effect = machine.step(.page(page, readTime: time(100)), at: .zero)
        #expect(effect == .save(machine.progress) && !machine.progress.isFinished)
        #expect(
            machine.step(.saved, at: .zero)
                == .read(after: path("p1499"), limit: FillMachine.pageSize))
    }

    @Test func `a document that changed is read again and written as of its new version`() throws {
        var (machine, effect) = try started([seen("a"), seen("b"), seen("c"), seen("d")])
        let other = FillMachine.Written.failed(RPCStatus(.failedPrecondition, "other version"))
        effect = machine.step(.written([other, other, other, other]), at: .zero)
        #expect(effect == .look(at: ["a", "b", "c", "d"].map(path)))
        // b has a change time by now, c is deleted, d has a field of another type.
        effect = machine.step(
            .found([seen("a", at: 30), seen("b", .time(time(31))), seen("d", .other("string"))]),
            at: .seconds(1))
        #expect(effect == .write([stamp("a", at: 30, attempts: 1)]))
        _ = machine.step(.written([.done(updateTime: time(40))]), at: .seconds(1))
        let progress = machine.progress
        #expect(progress.filled == 1 && progress.filledByOthers == 1 && progress.deleted == 1)
        #expect(progress.wrongType.count == 1 && progress.reads == 8 && progress.writes == 1)
    }

    @Test func `a document that never stops changing is left, and named`() throws {
        var (machine, effect) = try started([seen("a")])
        let other = FillMachine.Written.failed(RPCStatus(.failedPrecondition, "other version"))
        for attempt in 1...FillMachine.maxAttempts {
            #expect(
                effect
                    == .write([stamp("a", at: 9 + Int64(attempt), attempts: attempt - 1)]))
            let now = Duration.seconds(attempt)
            #expect(machine.step(.written([other]), at: now) == .look(at: [path("a")]))
            effect = machine.step(.found([seen("a", at: 10 + Int64(attempt))]), at: now)
        }
        #expect(effect == .save(machine.progress))
        #expect(machine.progress.unsettled.first == ["posts/a: it changed 5 times meanwhile"])
        #expect(machine.progress.open == 1)
    }

    @Test func `a lost answer is settled by a second look`() throws {
        var (machine, effect) = try started([seen("a"), seen("b")])
        let lost = RPCStatus(.unavailable, "connection lost")
        #expect(machine.step(.failed(lost), at: .zero) == .wait(.seconds(1)))
        #expect(machine.step(.woke, at: .seconds(1)) == .look(at: [path("a"), path("b")]))
        // The second look fails as well.
        #expect(machine.step(.failed(lost), at: .seconds(1)) == .wait(.seconds(2)))
        #expect(machine.step(.woke, at: .seconds(3)) == .look(at: [path("a"), path("b")]))
        effect = machine.step(
            .found([seen("a", .time(time(10)), at: 50), seen("b")]), at: .seconds(3))
        #expect(machine.progress.filled == 1 && machine.progress.writes == 1)
        #expect(machine.progress.window?.to == time(100).microseconds)
        #expect(effect == .write([stamp("b")]), "the same version is no further attempt")
    }

    @Test func `it waits longer after each failure, and stops`() {
        var machine = FillMachine(FillProgress(), rate: 500)
        _ = machine.start()
        let lost = RPCStatus(.unavailable, "connection lost")
        for seconds in [1, 2, 4, 8, 16] {
            #expect(machine.step(.failed(lost), at: .zero) == .wait(.seconds(seconds)))
            #expect(
                machine.step(.woke, at: .zero) == .read(after: nil, limit: FillMachine.pageSize))
        }
        #expect(machine.step(.failed(lost), at: .zero) == .end(.stopped(lost)))
    }

    @Test func `no permission ends it at once, and nothing counts as done`() throws {
        var (machine, _) = try started([seen("a")])
        let denied = RPCStatus(.permissionDenied, "no")
        #expect(machine.step(.written([.failed(denied)]), at: .zero) == .end(.stopped(denied)))
        #expect(machine.progress.cursor == nil && machine.progress.filled == 0)
    }

    @Test func `a document that the server refuses is named, and the others go on`() throws {
        var (machine, _) = try started([seen("a"), seen("b")])
        let tooLarge = RPCStatus(.invalidArgument, "too large")
        let effect = machine.step(
            .written([.failed(tooLarge), .done(updateTime: time(101))]), at: .zero)
        #expect(effect == .save(machine.progress))
        #expect(machine.progress.refused.first == ["posts/a: too large"])
        #expect(machine.progress.filled == 1 && machine.progress.open == 1)
    }

    @Test func `writes keep to the rate`() throws {
        var (machine, effect) = try started([seen("a"), seen("b"), seen("c")], rate: 2)
        let done = FillMachine.Written.done(updateTime: time(101))
        #expect(effect == .write([stamp("a"), stamp("b")]))
        effect = machine.step(.written([done, done]), at: .milliseconds(300))
        #expect(effect == .wait(.milliseconds(700)))
        effect = machine.step(.woke, at: .seconds(1))
        #expect(effect == .write([stamp("c")]))
    }

    @Test func `a progress that cannot be kept stops it before anything is written`() {
        var machine = FillMachine(FillProgress(), rate: 500)
        _ = machine.start()
        _ = machine.step(.page([seen("a")], readTime: time(100)), at: .zero)
        let full = RPCStatus(.unknown, "the disk is full")
        #expect(machine.step(.failed(full), at: .zero) == .end(.stopped(full)))
    }
}
