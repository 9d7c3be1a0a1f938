import TidemarkApp
import TidemarkModel
import TidemarkSync

/// The additional actions of a history with backfills.
enum BackfillAction: Hashable {
    case importDays, personReads, lowPower, retry

    static let all: [(BackfillAction, Int)] = [
        (.importDays, 5), (.personReads, 8), (.lowPower, 3), (.retry, 2),
    ]
}

/// Backfills beside the feeds. Checks that everything covered has been sent or is in the cache.
struct HistoryBackfills {
    unowned let history: FeedHistory

    /// Imports random days on a device.
    func importDays(_ device: HistoryDevice, _ count: Int) {
        for _ in 0..<count {
            let days = HistoryBackfill.endDay - HistoryBackfill.firstDay
            let day = HistoryBackfill.firstDay + Int64(history.driver.dice.roll(Int(days)))
            history.note("\(device.name) imports day \(day)")
            device.days.set(day, to: history.writes.nextNumber(&history.driver.dice))
        }
    }

    func perform(_ act: BackfillAction, _ device: HistoryDevice) {
        switch act {
        case .importDays: importDays(device, 1 + history.driver.dice.roll(3))
        case .personReads: device.backfill?.readForPerson()
        case .lowPower: device.backfill?.setLowPower(history.driver.dice.chance(40))
        case .retry: device.backfill?.retry()
        }
    }

    /// Checks that a device has sent or holds everything that it claims.
    func check(_ coverage: Coverage, of job: Int, _ device: HistoryDevice) {
        guard history.world.server.isUp else { return }
        if job == 0 { checkDays(coverage, device) } else { checkItems(coverage, device) }
    }

    private func checkDays(_ coverage: Coverage, _ device: HistoryDevice) {
        for (day, number) in device.days.numbers.sorted(by: { $0.key < $1.key })
        where device.days.changed[day] == nil {
            let time = HistoryBackfill.time(of: day)
            let end = HistoryBackfill.time(of: day + 1)
            guard coverage.contains(.start(of: time)..<CoveragePosition.start(of: end)) else {
                continue
            }
            history.figures.backfilled += 1
            let path = DocumentPath(unchecked: "days/\(device.name)-\(day)")
            let stored = try? history.world.server.document(at: path, in: World.database).get()
            if stored?.fields["n"] != .integer(number) {
                history.world.violate(
                    .backfills, "\(device.name) counts day \(day) as sent, and the server lacks it")
            }
        }
    }

    /// Checks the items unchanged since they were fetched and that this device never
    /// wrote.
    private func checkItems(_ coverage: Coverage, _ device: HistoryDevice) {
        guard let engine = device.client.engine, let now = try? history.oracle.truth(at: nil) else {
            return
        }
        let paths = now.all.values.filter { document in
            guard case .timestamp(let time)? = document.fields["createdAt"],
                let asOf = coverage.asOf(time, document.path)
            else { return false }
            return document.updateTime <= asOf && !history.writes.own.contains(document.path)
        }.map(\.path).sorted()
        let (name, process) = (device.name, device.client.process)
        let sink = WorldBox { [unowned history] in history }
        engine.session.cachedDocuments(
            at: paths, andWrittenIn: Query(collectionID: FeedHistory.items)
        ) { result in
            guard process.isAlive, case .success(let found) = result else { return }
            let history = sink.value()
            history.figures.backfilled += paths.count
            let missing = paths.filter { (found[$0] ?? nil) == nil }
            if missing.isEmpty { return }
            history.world.violate(
                .backfills, "\(name) counts \(missing.map(\.id)) as fetched, and holds them not")
        }
    }

    /// Checks that the backfills complete after all faults are healed.
    func settle() throws {
        for device in history.devices {
            device.backfill?.setLowPower(false)
            device.backfill?.follow()
            for _ in 0..<60 {
                guard let phase = device.backfill?.machine.progress.phase else { break }
                if phase == .complete { break }
                if phase == .failed { device.backfill?.retry() }
                try history.pass(.seconds(20))
            }
            guard let backfill = device.backfill, backfill.machine.progress.phase == .complete
            else {
                throw WorldViolation(
                    .backfills,
                    "\(device.name)'s backfill never ends: "
                        + "\(device.backfill.map { "\($0.machine.progress)" } ?? "no process")")
            }
            for (job, coverage) in zip(HistoryBackfill.jobs, backfill.covered)
            where !coverage.contains(job.range) {
                throw WorldViolation(
                    .backfills, "\(device.name)'s \(job.name) are done and not covered")
            }
            for job in 0..<2 { check(backfill.covered[job], of: job, device) }
            try history.pass(.zero)
        }
    }
}
