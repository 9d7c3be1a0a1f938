import Tidemark
import TidemarkApp
import TidemarkModel
import TidemarkSync
import TidemarkTesting

/// The days that a device has to send: a number for each day, as an import of health data leaves
/// them. Survives the processes of the device.
final class HistoryDays {
    private(set) var numbers: [Int64: Int64] = [:]
    /// The days imported again since they last counted as sent, with the number of imports.
    private(set) var changed: [Int64: Int] = [:]

    func set(_ day: Int64, to number: Int64) {
        numbers[day] = number
        changed[day, default: 0] += 1
    }

    func settle(_ taken: [Int64: Int]) {
        for (day, count) in taken where changed[day] == count { changed[day] = nil }
    }
}

/// Two backfills in a process of a device: one sends days, the other fetches items. The machine is
/// the app's own. Its effects make the same requests to the engine as ``TidemarkApp/Backfill``.
final class HistoryBackfill {
    private enum Held {
        case days([(day: Int64, number: Int64)])
        case items
    }

    let process: WorldProcess
    private(set) var machine: BackfillMachine
    private(set) var conditions = BackfillConditions()
    /// The coverage on disk, by job.
    private(set) var covered = [Coverage(), Coverage()]
    private unowned let device: HistoryDevice
    private let session: UserSession
    private var held: Held?
    private var waits: [any CancellableCall] = []
    /// The start times of reads for which a user waits, by number.
    private var reads: [Int: Duration] = [:]
    private var lastRead = 0

    private static let keys = ["backfill/days", "backfill/items"]
    static let firstDay: Int64 = 19_600
    static let endDay: Int64 = 19_676
    private static let daysOfPart: Int64 = 4
    static let patience = Duration.seconds(5)

    static let jobs = ["days", "items"].map { name in
        BackfillJob(
            name: name, from: time(of: firstDay), to: time(of: endDay),
            priority: name == "days" ? 1 : 0)
    }
    private static let pages = HistoryPages(
        Query(collectionID: FeedHistory.items), itemTime: FieldPath(name: "createdAt"), size: 3)

    static func time(of day: Int64) -> Timestamp {
        Timestamp(seconds: day * 86_400, nanoseconds: 0)
    }

    /// - Precondition: The device's app is running.
    init(_ device: HistoryDevice) {
        guard let engine = device.client.engine else { preconditionFailure("no app runs") }
        self.device = device
        process = device.client.process
        session = engine.session
        machine = BackfillMachine(Self.jobs)
        #if TIDEMARK_DEFECTS
            machine.defects = device.history.settings.defects
        #endif
        conditions.isOnline = device.client.hasNetwork
        load(0)
    }

    private var now: Duration { device.history.world.time.elapsed }

    func path(of day: Int64) -> DocumentPath {
        DocumentPath(unchecked: "days/\(device.name)-\(day)")
    }

    // MARK: What the app does

    func setLowPower(_ isLow: Bool) { change { $0.isLowPower = isLow } }
    /// Reports the network's state, as an app does from time to time.
    func follow() { change { $0.isOnline = device.client.hasNetwork } }
    func retry() { step(.retried) }

    private func change(_ body: (inout BackfillConditions) -> Void) {
        let before = conditions
        body(&conditions)
        if hasStarted, conditions != before { step(.conditionsChanged(conditions)) }
    }

    /// Simulates a user who reads something; background work must wait.
    func readForPerson() {
        lastRead += 1
        let number = lastRead
        reads[number] = now
        change { $0.peopleWaiting += 1 }
        let sink = WorldBox { [weak self] in self }
        device.client.engine?.read(
            Query(collectionID: FeedHistory.items), source: .default, deadline: Self.patience
        ) { _ in
            guard let backfill = sink.value(),
                let began = backfill.reads.removeValue(forKey: number)
            else { return }
            if backfill.now - began > Self.patience {
                backfill.device.history.world.violate(
                    .patience, "a person waited \(backfill.now - began)")
            }
            backfill.change { $0.peopleWaiting -= 1 }
        }
    }

    /// Checks that no user waits longer than the deadline.
    func checkPatience() {
        guard process.isAlive, let first = reads.values.min(), now - first > Self.patience else {
            return
        }
        device.history.world.violate(
            .patience, "a person at \(device.name) still waits after \(now - first)")
    }

    // MARK: Beginning

    private var hasStarted = false

    private func load(_ job: Int) {
        guard job < Self.jobs.count else {
            hasStarted = true
            device.history.note("\(device.name) goes on with its backfill")
            step(.conditionsChanged(conditions))
            return step(.started(covered))
        }
        let sink = WorldBox { [weak self] in self }
        session.record(forKey: Self.keys[job]) { result in
            guard let backfill = sink.value(), backfill.process.isAlive else { return }
            guard case .success(let bytes) = result else { return backfill.loadLater(job) }
            let coverage = bytes.flatMap(Coverage.init(encoded:)) ?? Coverage()
            backfill.next { $0.loaded(job, coverage) }
        }
    }

    private func loadLater(_ job: Int) {
        let sink = WorldBox { [weak self] in self }
        waits.append(session.wait(.seconds(10)) { sink.value()?.load(job) })
    }

    /// Removes days that were imported again from the coverage, as a health history does. The
    /// coverage of items stays, as a query's history keeps what it fetches.
    private func loaded(_ job: Int, _ coverage: Coverage) {
        device.history.backfills.check(coverage, of: job, device)
        var rest = coverage
        let taken = job == 0 ? device.days.changed : [:]
        for day in taken.keys {
            rest.remove(
                .start(of: Self.time(of: day))..<CoveragePosition.start(of: Self.time(of: day + 1)))
        }
        let sink = WorldBox { [weak self] in self }
        let next = rest
        save(job, coverage: rest) { error in
            guard let backfill = sink.value(), backfill.process.isAlive else { return }
            if error != nil { return backfill.loadLater(job) }
            backfill.device.days.settle(taken)
            backfill.covered[job] = next
            backfill.load(job + 1)
        }
    }

    private func save(
        _ job: Int, coverage: Coverage, end: @escaping @Sendable (SyncError?) -> Void
    ) {
        session.setRecord(
            coverage.encoded, forKey: Self.keys[job], keeping: job == 1 ? Self.pages.query : nil,
            completion: end)
    }

    // MARK: Effects

    private func step(_ event: BackfillMachine.Event) {
        guard process.isAlive else { return }
        for effect in machine.step(event, now: now) { perform(effect) }
    }

    private func perform(_ effect: BackfillMachine.Effect) {
        switch effect {
        case .fetch, .store, .upload:
            if conditions.peopleWaiting > 0 || !conditions.isOnline || conditions.isLowPower {
                device.history.world.violate(
                    .backfills, "\(device.name)'s backfill is in the way: \(effect)")
            }
        case .cover, .startTimer, .show: break
        }
        let sink = WorldBox { [weak self] in self }
        switch effect {
        case .fetch(job: 0, let range): fetchDays(range)
        case .fetch(_, let range): fetchItems(range)
        // Both kinds of data are already on the device.
        case .store: session.wait(.zero) { sink.value()?.step(.stored) }.keep(in: &waits)
        case .upload: upload()
        case .cover(let job, let coverage):
            save(job, coverage: coverage) { error in
                guard let backfill = sink.value(), backfill.process.isAlive else { return }
                if let error { return backfill.step(.failed(.transient("\(error)"))) }
                backfill.covered[job] = coverage
                backfill.next { backfill in
                    backfill.device.history.backfills.check(coverage, of: job, backfill.device)
                    backfill.step(.covered)
                }
            }
        case .startTimer(let number, let delay):
            session.wait(delay) { sink.value()?.step(.timerFired(number)) }.keep(in: &waits)
        case .show: break
        }
    }

    private func answer(_ event: BackfillMachine.Event) { next { $0.step(event) } }

    /// Continues after the present job of the engine. A check asks the server, which runs other
    /// jobs, so it must not begin within one.
    private func next(_ body: @escaping @Sendable (HistoryBackfill) -> Void) {
        let sink = WorldBox { [weak self] in self }
        session.wait(.zero) {
            guard let backfill = sink.value(), backfill.process.isAlive else { return }
            body(backfill)
        }.keep(in: &waits)
    }

    /// Fetches days, as ``HealthHistory`` does.
    private func fetchDays(_ range: Range<CoveragePosition>) {
        if device.history.driver.dice.chance(8) { return stall(range) }
        let (first, end) = (range.lowerBound.time.day, range.upperBound.time.day)
        let start = max(first, end - Self.daysOfPart)
        held = .days(
            (start..<end).compactMap { day in device.days.numbers[day].map { (day, $0) } })
        answer(
            .fetched(
                .init(
                    reached: start == first ? range.lowerBound : .start(of: Self.time(of: start)),
                    asOf: device.now, samples: 1, bytes: 0, reads: 0)))
    }

    /// Simulates a source that reports success without any progress.
    private func stall(_ range: Range<CoveragePosition>) {
        held = .items
        answer(
            .fetched(
                .init(
                    reached: range.upperBound, asOf: device.now, samples: 0, bytes: 0, reads: 0)))
    }

    private func fetchItems(_ range: Range<CoveragePosition>) {
        if device.history.driver.dice.chance(8) { return stall(range) }
        held = .items
        let sink = WorldBox { [weak self] in self }
        device.client.engine?.read(
            Self.pages.request(range, in: World.database), source: .server, deadline: .seconds(20)
        ) { result in
            guard let backfill = sink.value(), backfill.process.isAlive else { return }
            backfill.step(Self.part(of: result, range))
        }
    }

    private static func part(
        of result: Result<ReadResult, SyncError>, _ range: Range<CoveragePosition>
    ) -> BackfillMachine.Event {
        guard case .success(let read) = result, case .fresh(let readTime) = read.freshness else {
            return .failed(.transient("the server did not answer"))
        }
        let last = read.documents.last.map {
            (time: $0.document.fields[FieldPath(name: "createdAt")], path: $0.path)
        }
        do throws(BackfillFailure) {
            let reached = try pages.reached(range, count: read.documents.count, last: last)
            let count = read.documents.count
            return .fetched(
                .init(
                    reached: reached, asOf: readTime, samples: count, bytes: 0,
                    reads: max(1, count)))
        } catch { return .failed(error) }
    }

    private func upload() {
        guard case .days(let days)? = held, !days.isEmpty else {
            return answer(.uploaded(writes: 0))
        }
        let mutations = days.map { day, number in
            Mutation(path: path(of: day), .set(["n": .integer(number)]))
        }
        let sink = WorldBox { [weak self] in self }
        session.write(mutations) { event in
            guard let backfill = sink.value(), backfill.process.isAlive else { return }
            switch event {
            case .journalled: break
            case .acknowledged: backfill.step(.uploaded(writes: mutations.count))
            case .failed(let error): backfill.step(.failed(.transient("\(error)")))
            }
        }
    }
}

extension CancellableCall {
    /// Keeps the call alive as long as its owner.
    fileprivate func keep(in calls: inout [any CancellableCall]) {
        calls = calls.suffix(8) + [self]
    }
}

extension Timestamp {
    /// The first whole day at or after this time.
    fileprivate var day: Int64 { (seconds + 86_399) / 86_400 }
}
