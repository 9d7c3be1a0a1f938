import Testing

@testable import TidemarkFiles

struct UploadMachineTests {
    private static let unit: Int64 = 262_144
    private static let day: Int64 = 86_400

    private func moment(_ now: Int64 = 1_000, jitter: Double = 0.5) -> UploadMachine.Moment {
        UploadMachine.Moment(now: now, elapsed: .seconds(now), jitter: jitter)
    }

    private func target(size: Int64 = 3 * unit) -> UploadTarget {
        UploadTarget(
            bucket: "b", name: "photos/1", size: size, md5: "good", contentType: "image/png")
    }

    private func object(size: Int64 = 3 * unit, md5: String? = "good") -> UploadedObject {
        UploadedObject(size: size, md5: md5, generation: "1")
    }

    /// Returns a machine whose session is open, and which has sent its first chunk.
    private func open(size: Int64 = 3 * unit) -> UploadMachine {
        var machine = UploadMachine(target(size: size))
        _ = machine.step(.begin, at: moment())
        _ = machine.step(.copy(.same), at: moment())
        _ = started(&machine)
        return machine
    }

    /// Opens the session. Before a chunk that is the last, the copy turns out to be the same.
    private func started(_ machine: inout UploadMachine) -> [UploadMachine.Effect] {
        let answer = UploadAnswer(200, .active, address: "s")
        let effects = machine.step(.answer(answer), at: moment())
        return effects.last == .compareCopy
            ? machine.step(.copy(.same), at: moment()) : effects
    }

    private func request(_ effects: [UploadMachine.Effect]) -> UploadMachine.Request? {
        if case .send(let request)? = effects.last { request } else { nil }
    }

    private func failure(_ effects: [UploadMachine.Effect]) -> UploadProblem? {
        if case .failed(let problem)? = effects.last { problem } else { nil }
    }

    /// Returns the request after the wait that the effects ask for.
    private func afterWait(
        _ machine: inout UploadMachine, _ effects: [UploadMachine.Effect]
    ) -> UploadMachine.Request? {
        guard case .wait? = effects.last else { return nil }
        return request(machine.step(.ready, at: moment()))
    }

    @Test func `the session is stored before its first chunk`() {
        var machine = UploadMachine(target())
        #expect(machine.step(.begin, at: moment()) == [.progress(0), .checkCopy])
        #expect(machine.step(.copy(.same), at: moment()) == [.send(.start)])
        let effects = machine.step(
            .answer(UploadAnswer(200, .active, address: "s")), at: moment())
        #expect(effects.count == 2)
        guard case .store(let record) = effects[0] else {
            Issue.record("nothing is stored")
            return
        }
        #expect(record.session == .init(address: "s", madeAt: 1_000))
        #expect(
            request(effects)
                == .chunk(address: "s", offset: 0, length: Int(Self.unit), isLast: false))
    }

    @Test func `chunks grow, and end at multiples of 256 KiB`() {
        var machine = open(size: 10 * Self.unit)
        var effects = machine.step(
            .answer(UploadAnswer(200, .active, received: Self.unit)), at: moment())
        #expect(
            request(effects)
                == .chunk(
                    address: "s", offset: Self.unit, length: 2 * Int(Self.unit), isLast: false))
        // The connection breaks, and Storage has an odd number of bytes.
        effects = machine.step(.broke, at: moment())
        #expect(afterWait(&machine, effects) == .query(address: "s"))
        effects = machine.step(
            .answer(UploadAnswer(200, .active, received: Self.unit + 100)), at: moment())
        #expect(
            request(effects)
                == .chunk(
                    address: "s", offset: Self.unit + 100, length: Int(Self.unit) - 100,
                    isLast: false))
    }

    @Test func `an empty file has one empty chunk, which is the last`() {
        var machine = UploadMachine(target(size: 0))
        _ = machine.step(.begin, at: moment())
        _ = machine.step(.copy(.same), at: moment())
        let effects = started(&machine)
        #expect(request(effects) == .chunk(address: "s", offset: 0, length: 0, isLast: true))
    }

    @Test func `the possible object is stored before the last chunk leaves`() {
        var machine = open(size: Self.unit)
        #expect(machine.record.mayExist)
        machine = open(size: Self.unit + 1)
        #expect(!machine.record.mayExist)
        let sent = machine.step(
            .answer(UploadAnswer(200, .active, received: Self.unit)), at: moment())
        #expect(sent.last == .compareCopy)
        let effects = machine.step(.copy(.same), at: moment())
        guard case .store(let record)? = effects.dropLast().last else {
            Issue.record("nothing is stored before the request")
            return
        }
        #expect(record.mayExist)
    }

    /// Most chunks leave while the copy is still compared. The last one completes the object.
    @Test(arguments: [UploadMachine.CopyState.changed, .missing])
    func `a copy that is not the same ends before its last chunk`(state: UploadMachine.CopyState) {
        var machine = open(size: 2 * Self.unit)
        let sent = machine.step(
            .answer(UploadAnswer(200, .active, received: Self.unit)), at: moment())
        #expect(sent.last == .compareCopy)
        let effects = machine.step(.copy(state), at: moment())
        #expect(effects.first == .cancel(address: "s"))
        #expect(failure(effects) == (state == .changed ? .copyChanged : .copyMissing))
        #expect(!machine.record.mayExist, "nothing that completes the object was sent")
    }

    @Test func `a copy that cannot be read at its end is compared again`() {
        var machine = open(size: Self.unit + 1)
        _ = machine.step(.answer(UploadAnswer(200, .active, received: Self.unit)), at: moment())
        #expect(machine.step(.copy(.unreadable), at: moment()) == [.wait(.zero)])
        #expect(machine.step(.ready, at: moment()) == [.compareCopy])
        #expect(request(machine.step(.copy(.same), at: moment())) != nil)
    }

    /// The comparison includes the bytes that an earlier process has sent.
    @Test func `an upload that continues compares its whole copy`() {
        let session = UploadRecord.Session(address: "s", madeAt: 1_000, confirmed: Self.unit)
        var machine = UploadMachine(
            target(size: Self.unit + 1), UploadRecord(session: session, furthest: Self.unit))
        _ = machine.step(.begin, at: moment())
        let asked = machine.step(
            .answer(UploadAnswer(200, .active, received: Self.unit)), at: moment())
        #expect(asked.last == .checkCopy)
        #expect(machine.step(.copy(.same), at: moment()) == [.compareCopy])
        #expect(failure(machine.step(.copy(.changed), at: moment())) == .copyChanged)
    }

    @Test func `a lost last answer is looked up and compared`() {
        var machine = open(size: Self.unit)
        var effects = machine.step(.broke, at: moment())
        #expect(afterWait(&machine, effects) == .query(address: "s"))
        effects = machine.step(.answer(UploadAnswer(200, .final)), at: moment())
        #expect(request(effects) == .look)
        effects = machine.step(
            .answer(UploadAnswer(200, object: object(size: Self.unit))), at: moment())
        #expect(effects.last == .finished(object(size: Self.unit)))
    }

    @Test(arguments: [
        UploadedObject(size: 262_143, md5: "good"), UploadedObject(size: 262_144, md5: "other"),
        UploadedObject(size: 262_144, md5: nil),
    ])
    func `another object is removed, and the copy is checked again`(found: UploadedObject) {
        var machine = open(size: Self.unit)
        var effects = machine.step(
            .answer(UploadAnswer(200, .final, object: found)), at: moment())
        #expect(request(effects) == .remove)
        effects = machine.step(.answer(UploadAnswer(204)), at: moment())
        #expect(effects.last == .checkCopy)
        effects = machine.step(.copy(.changed), at: moment())
        #expect(failure(effects) == .copyChanged)
    }

    @Test func `after three damaged objects the upload says so`() {
        var machine = open(size: Self.unit)
        for round in 1...3 {
            _ = machine.step(
                .answer(UploadAnswer(200, .final, object: object(md5: "other"))), at: moment())
            _ = machine.step(.answer(UploadAnswer(204)), at: moment())
            let effects = machine.step(.copy(.same), at: moment())
            if round == 3 {
                #expect(failure(effects) == .damagedOnTheWay)
            } else {
                #expect(request(effects) == .start)
                _ = started(&machine)
            }
        }
    }

    @Test(arguments: [404, 410])
    func `a lost session begins from the start`(status: Int) {
        var machine = open()
        let effects = machine.step(.answer(UploadAnswer(status)), at: moment())
        #expect(machine.record.session == nil)
        #expect(afterWait(&machine, effects) == .start)
    }

    @Test func `a session of a week ago is not used`() {
        let session = UploadRecord.Session(address: "s", madeAt: 0, confirmed: Self.unit)
        let record = UploadRecord(session: session, furthest: Self.unit)
        var young = UploadMachine(target(), record)
        let query = young.step(.begin, at: moment(7 * Self.day - 1))
        #expect(query == [.progress(Self.unit), .send(.query(address: "s"))])
        var old = UploadMachine(target(), record)
        let effects = old.step(.begin, at: moment(7 * Self.day))
        #expect(effects.last == .checkCopy && old.record.session == nil)
        #expect(effects.first == .progress(Self.unit), "progress does not run back")
    }

    @Test func `a token is replaced once, and the session is asked`() {
        var machine = open()
        #expect(machine.step(.answer(UploadAnswer(401, .final)), at: moment()) == [.refreshToken])
        let effects = machine.step(.refreshed(isDone: true), at: moment())
        #expect(request(effects) == .query(address: "s"))
        let again = machine.step(.answer(UploadAnswer(401)), at: moment())
        #expect(again == [.wait(.zero)])
        #expect(machine.record.session != nil, "the user can sign in again")
    }

    /// A portal answers in the place of Storage, at any request. Nothing is refused or lost by it.
    @Test(arguments: [302, 303, 307, 511])
    func `an upload waits behind a captive portal`(status: Int) {
        var machine = UploadMachine(target())
        _ = machine.step(.begin, at: moment())
        _ = machine.step(.copy(.same), at: moment())
        var effects = machine.step(.answer(UploadAnswer(status)), at: moment())
        #expect(afterWait(&machine, effects) == .start)
        effects = started(&machine)
        for _ in 0..<10 {
            effects = machine.step(.answer(UploadAnswer(status)), at: moment())
            #expect(afterWait(&machine, effects) == .query(address: "s"))
        }
        #expect(machine.record.session?.address == "s")
        effects = machine.step(.answer(UploadAnswer(200, .active, received: 0)), at: moment())
        #expect(
            request(effects)
                == .chunk(address: "s", offset: 0, length: Int(Self.unit), isLast: false))
    }

    @Test func `the server says when, within an hour`() {
        var machine = open()
        let asked = UploadAnswer(429, retryAfter: .seconds(30))
        #expect(machine.step(.answer(asked), at: moment()) == [.wait(.seconds(30))])
        _ = machine.step(.ready, at: moment())
        let endless = UploadAnswer(503, retryAfter: .seconds(1_000_000))
        #expect(machine.step(.answer(endless), at: moment()) == [.wait(.seconds(3_600))])
    }

    @Test func `waits grow to two minutes without progress`() {
        var machine = open()
        var waits: [Duration] = []
        for _ in 0..<12 {
            for effect in machine.step(.broke, at: moment()) {
                if case .wait(let delay) = effect { waits.append(delay) }
            }
            _ = machine.step(.ready, at: moment())
        }
        #expect(waits.prefix(4) == [.zero, .seconds(1), .seconds(2), .seconds(4)])
        #expect(waits.last == .seconds(120))
    }

    @Test(arguments: [402, 403, 404, 413])
    func `a refusal is reported`(status: Int) {
        var machine = UploadMachine(target())
        _ = machine.step(.begin, at: moment())
        _ = machine.step(.copy(.same), at: moment())
        let effects = machine.step(.answer(UploadAnswer(status, .final)), at: moment())
        #expect(failure(effects) == .refused(status: status))
    }

    @Test func `a refusal is no refusal if the object is there already`() {
        let record = UploadRecord(mayExist: true)
        var machine = UploadMachine(target(size: Self.unit), record)
        #expect(request(machine.step(.begin, at: moment())) == .look)
        // The object is still being completed when Storage is asked, and there a moment later.
        #expect(machine.step(.answer(UploadAnswer(404)), at: moment()) == [.checkCopy])
        _ = machine.step(.copy(.same), at: moment())
        _ = started(&machine)
        let denied = machine.step(.answer(UploadAnswer(403, .final)), at: moment())
        #expect(denied.first == .cancel(address: "s"))
        #expect(request(denied) == .look)
        let effects = machine.step(
            .answer(UploadAnswer(200, object: object(size: Self.unit))), at: moment())
        #expect(effects.last == .finished(object(size: Self.unit)))
    }

    @Test func `more bytes than were sent are another process's`() {
        var machine = open()
        let effects = machine.step(
            .answer(UploadAnswer(200, .active, received: 2 * Self.unit)), at: moment())
        #expect(machine.record.session == nil)
        #expect(afterWait(&machine, effects) == .start)
    }

    @Test func `a wrong offset is asked about, and given up after the sixth`() {
        var machine = open()
        for _ in 0..<5 {
            let effects = machine.step(.answer(UploadAnswer(400, .active)), at: moment())
            #expect(afterWait(&machine, effects) == .query(address: "s"))
            _ = machine.step(.answer(UploadAnswer(200, .active, received: 0)), at: moment())
        }
        let effects = machine.step(.answer(UploadAnswer(400, .active)), at: moment())
        #expect(afterWait(&machine, effects) == .start)
    }

    @Test func `a missing copy is reported, unless the object is complete`() {
        var machine = UploadMachine(target())
        _ = machine.step(.begin, at: moment())
        #expect(failure(machine.step(.copy(.missing), at: moment())) == .copyMissing)
        machine = UploadMachine(target(), UploadRecord(mayExist: true))
        #expect(request(machine.step(.begin, at: moment())) == .look, "the copy is not needed")
    }

    @Test func `a chunk that cannot be read ends the session`() {
        var machine = open()
        let effects = machine.step(.copy(.missing), at: moment())
        #expect(effects.first == .cancel(address: "s"))
        #expect(failure(effects) == .copyMissing)
    }
}
