import TidemarkApp
import TidemarkModel
import TidemarkSync
import TidemarkTesting

extension FeedHistory {
    /// Mends everything, and expects of all feeds and pagers to show what the server holds; of some
    /// histories, as it takes as long as all before, also after another sync and another start.
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
        let isThorough = settings.isThorough || dice.chance(35)
        if isThorough {
            for device in devices {
                device.loadMore(.max)
                try pass(.seconds(1))
                try syncWell(device)
            }
            try checkShared()
            for device in devices { try checkRest(device) }
        }
        for device in devices { try settlePager(device) }
        if isThorough {
            for device in devices { try checkRestart(device) }
        }
        try listenWhileOthersWrite()
    }

    /// All feeds listen, and are fresh again and again.
    private func listenWhileOthersWrite() throws {
        for device in devices {
            device.client.setNetwork(true, isNoticed: true)
            device.goLive(true)
        }
        try settleLive()
        for _ in 0..<3 {
            writeOutside()
            try pass(.seconds(5))
        }
        try settleLive()
        for device in devices { device.goLive(false) }
    }

    /// Those that listen need no sync.
    private func settleLive() throws {
        for device in devices where device.isLive {
            for _ in 0..<40 where !device.isFresh { try pass(.seconds(10)) }
            guard device.isFresh else {
                throw WorldViolation(
                    .convergence, "\(device.name)'s feed listens, and never gets fresh")
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
        throw WorldViolation(.convergence, "\(device.name) cannot sync, with everything mended")
    }

    /// Another sync brings nothing, and shows the same.
    private func checkRest(_ device: HistoryDevice) throws {
        guard let shown = device.feed?.machine.shown else { return }
        try syncWell(device)
        let promise = HistoryPromise(way: mood.way, writes: writes, now: try truth(at: nil))
        guard let again = device.feed?.machine.shown,
            again.rows.filter({ promise.isWhole($0.path) })
                == shown.rows.filter({ promise.isWhole($0.path) })
        else {
            throw WorldViolation(
                .feedRest, "\(device.name) shows something else, and nothing happened")
        }
    }

    /// All devices of the user have cleared alike.
    private func checkShared() throws {
        guard mood.sharesMarks, let mark = sharedMark() else { return }
        for device in devices where device.feed?.machine.marks.action != mark {
            throw WorldViolation(
                .feedMarks,
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
        guard let feed = device.feed else {
            throw WorldViolation(.convergence, "\(device.name) cannot start")
        }
        guard feed.machine.marks == marks else {
            throw WorldViolation(.feedMarks, "\(device.name) has other marks after a restart")
        }
        // What the way does not promise, a pager may have brought or taken away.
        let promise = HistoryPromise(way: mood.way, writes: writes, now: try truth(at: nil))
        let before = shown.rows.filter { promise.isWhole($0.path) }
        let after = feed.machine.shown.rows.filter { promise.isWhole($0.path) }
        guard before == after else {
            throw WorldViolation(
                .feedRest,
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
            throw WorldViolation(.pagers, "\(device.name)'s pager never comes to the end")
        }
        try checkPager(device, pager)
    }

    private func checkPager(_ device: HistoryDevice, _ pager: HistoryPager) throws {
        guard pager.isCurrent else {
            throw WorldViolation(.pagers, "\(device.name)'s pager stays what the cache had")
        }
        figures.pages += 1
        figures.pageRows += pager.machine.rows.count
        let documents = Array(try truth(at: nil).all.values)
        if let fault = pager.fault(documents, mood) {
            throw WorldViolation(
                .pagers,
                "\(device.name)'s pager: \(fault); it shows \(pager.machine.rows.map(\.path.id))")
        }
    }

    // MARK: At every moment

    /// A pager whose pages the server has confirmed shows a full read, wherever nothing has been written
    /// since the first of them was told.
    func checkPages(_ device: HistoryDevice) throws {
        guard world.server.isUp, let pager = device.pager, pager.process.isAlive, pager.isCurrent,
            let first = pager.firstReadTime
        else { return }
        let state = HistoryPager.Compared(rows: Array(pager.machine.rows), writes: writes.count)
        if device.comparedPages == state { return }
        let (then, now) = (try? truth(at: first), try truth(at: nil))
        guard then?.all.mapValues(\.updateTime) == now.all.mapValues(\.updateTime) else { return }
        let found = WorldFound<Set<DocumentPath>>()
        askPending(device, pager.process) { found.value = $0 }
        try world.pass(.zero)
        guard found.value?.isEmpty == true, pager.process.isAlive, pager.isCurrent else { return }
        device.comparedPages = state
        try checkPager(device, pager)
    }
}
