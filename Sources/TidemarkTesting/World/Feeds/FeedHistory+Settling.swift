import TidemarkApp
import TidemarkModel
import TidemarkSync

extension FeedHistory {
    /// Mends everything, and expects of all feeds to show what the server holds; of some histories, as
    /// it takes as long as all before, also of their pagers, and after another start.
    func settle() throws {
        try world.mend()
        lastTrouble = world.time.elapsed
        for device in devices { device.follow() }
        // Longer than any backoff, so that what waits is sent.
        try pass(.seconds(150))
        try settleLive()
        for device in devices { device.goLive(false) }
        try pass(.seconds(5))
        for device in devices { try syncWell(device) }
        if settings.hasBackfills { try settleBackfills() }
        guard dice.chance(35) else { return }
        for device in devices {
            device.loadMore(.max)
            try pass(.seconds(1))
            try syncWell(device)
        }
        try checkShared()
        for device in devices { try checkRest(device) }
        for device in devices { try settlePager(device) }
        for device in devices { try checkRestart(device) }
    }

    /// Those that listen need no sync.
    private func settleLive() throws {
        for device in devices where device.isLive {
            for _ in 0..<40 where !device.isFresh { try pass(.seconds(10)) }
            guard device.isFresh else {
                throw WorldViolation("\(device.name)'s feed listens, and never gets fresh")
            }
            note("\(device.name) listens, and is fresh")
        }
    }

    /// With everything mended a sync succeeds, at the latest the third.
    private func syncWell(_ device: HistoryDevice) throws {
        for _ in 0..<3 {
            let before = figures.syncs
            device.sync()
            try pass(.seconds(30))
            if figures.syncs > before { return }
        }
        throw WorldViolation("\(device.name) cannot sync, with everything mended")
    }

    /// Another sync brings nothing, and shows the same.
    private func checkRest(_ device: HistoryDevice) throws {
        guard let shown = device.feed?.machine.shown else { return }
        try syncWell(device)
        let promise = HistoryPromise(way: mood.way, writes: writes, now: try truth(at: nil))
        guard let again = device.feed?.machine.shown,
            again.rows.filter({ promise.isWhole($0.path) })
                == shown.rows.filter({ promise.isWhole($0.path) })
        else { throw WorldViolation("\(device.name) shows something else, and nothing happened") }
    }

    /// All devices of the user have cleared alike.
    private func checkShared() throws {
        guard mood.sharesMarks, let mark = sharedMark() else { return }
        for device in devices where device.feed?.machine.marks.action != mark {
            throw WorldViolation(
                "\(device.name) is cleared at "
                    + "\(device.feed?.machine.marks.action.map { "\($0)" } ?? "no time"), "
                    + "the other devices at \(mark)")
        }
    }

    /// A new process shows from its disk what the one before showed.
    private func checkRestart(_ device: HistoryDevice) throws {
        guard let shown = device.feed?.machine.shown else { return }
        let marks = device.feed?.machine.marks
        dice.chance(50) ? device.client.kill() : device.client.terminate()
        device.client.setNetwork(false, isNoticed: true)
        device.client.start()
        device.follow()
        device.loadMore(.max)
        try pass(.seconds(2))
        guard let feed = device.feed else { throw WorldViolation("\(device.name) cannot start") }
        guard feed.machine.marks == marks else {
            throw WorldViolation("\(device.name) has other marks after a restart")
        }
        // What the way does not promise, a pager may have brought or taken away.
        let promise = HistoryPromise(way: mood.way, writes: writes, now: try truth(at: nil))
        let before = shown.rows.filter { promise.isWhole($0.path) }
        let after = feed.machine.shown.rows.filter { promise.isWhole($0.path) }
        guard before == after else {
            throw WorldViolation(
                "\(device.name) shows \(after.map(\.path.id)) after a restart, "
                    + "not \(before.map(\.path.id))")
        }
    }

    private func settlePager(_ device: HistoryDevice) throws {
        guard let pager = device.pager else { return }
        for _ in 0..<60 {
            if pager.isCurrent, !pager.machine.hasMore { break }
            if !pager.machine.isLoadingMore { pager.loadMore() }
            try pass(.seconds(1))
            for _ in 0..<6 where pager.machine.isLoadingMore || !pager.isCurrent {
                try pass(.seconds(10))
            }
            try checkPager(device, pager)
        }
        guard !pager.machine.hasMore else {
            throw WorldViolation("\(device.name)'s pager never comes to the end")
        }
        try checkPager(device, pager)
    }

    private func checkPager(_ device: HistoryDevice, _ pager: HistoryPager) throws {
        guard pager.isCurrent else {
            throw WorldViolation("\(device.name)'s pager stays what the cache had")
        }
        figures.pages += 1
        let documents = Array(try truth(at: nil).all.values)
        if let fault = pager.fault(documents, mood) {
            throw WorldViolation(
                "\(device.name)'s pager: \(fault); it shows \(pager.machine.rows.map(\.path.id))")
        }
    }
}
