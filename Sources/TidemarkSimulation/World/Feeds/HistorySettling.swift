import TidemarkApp
import TidemarkModel
import TidemarkSync
import TidemarkTesting

/// The end of a history: heals all faults, then checks that everything is shown.
struct HistorySettling {
    unowned let history: FeedHistory

    /// Heals all faults, then checks that every feed and pager shows the server's data. For 35 % of
    /// the histories, checks again after another sync and a restart, which takes as long as the
    /// rest of the history.
    func settle() throws {
        try history.world.mend()
        history.driver.mended()
        for device in history.devices { device.follow() }
        // Longer than any backoff, so that pending writes are sent.
        try history.pass(.seconds(150))
        try settleLive()
        for device in history.devices { device.goLive(false) }
        try history.pass(.seconds(5))
        for device in history.devices { try syncWell(device) }
        if history.settings.hasBackfills { try history.backfills.settle() }
        let isThorough = history.settings.isThorough || history.driver.dice.chance(35)
        if isThorough {
            for device in history.devices {
                device.loadMore(.max)
                try history.pass(.seconds(1))
                try syncWell(device)
            }
            try checkShared()
            for device in history.devices { try checkRest(device) }
        }
        for device in history.devices { try settlePager(device) }
        if isThorough {
            for device in history.devices { try checkRestart(device) }
        }
        try listenWhileOthersWrite()
    }

    /// Makes all feeds listen while others write, and checks that they become fresh each time.
    private func listenWhileOthersWrite() throws {
        for device in history.devices {
            device.client.setNetwork(true, isNoticed: true)
            device.goLive(true)
        }
        try settleLive()
        for _ in 0..<3 {
            history.driver.writeOutside()
            try history.pass(.seconds(5))
        }
        try settleLive()
        for device in history.devices { device.goLive(false) }
    }

    /// Waits until every listening feed is fresh without a sync.
    private func settleLive() throws {
        for device in history.devices where device.isLive {
            for _ in 0..<40 where !device.isFresh { try history.pass(.seconds(10)) }
            guard device.isFresh else {
                throw WorldViolation(
                    .convergence, "\(device.name)'s feed listens, and never gets fresh")
            }
            history.note("\(device.name) listens, and is fresh")
        }
    }

    /// Syncs until a sync succeeds. With all faults healed, at most three attempts are needed.
    private func syncWell(_ device: HistoryDevice) throws {
        for _ in 0..<3 {
            let before = history.figures.syncs
            device.sync()
            try history.pass(.seconds(30))
            if history.figures.syncs > before { return }
        }
        throw WorldViolation(.convergence, "\(device.name) cannot sync, with everything mended")
    }

    /// Checks that another sync changes nothing.
    private func checkRest(_ device: HistoryDevice) throws {
        guard let shown = device.feed?.machine.shown else { return }
        try syncWell(device)
        let promise = HistoryPromise(
            way: history.parameters.way, writes: history.writes,
            now: try history.oracle.truth(at: nil))
        guard let again = device.feed?.machine.shown,
            again.rows.filter({ promise.isWhole($0.path) })
                == shown.rows.filter({ promise.isWhole($0.path) })
        else {
            throw WorldViolation(
                .feedRest, "\(device.name) shows something else, and nothing happened")
        }
    }

    /// Checks that all devices of the user have the same clear mark.
    private func checkShared() throws {
        guard history.parameters.sharesMarks, let mark = history.oracle.sharedMark() else { return }
        for device in history.devices where device.feed?.machine.marks.action != mark {
            throw WorldViolation(
                .feedMarks,
                "\(device.name) is cleared at "
                    + "\(device.feed?.machine.marks.action.map { "\($0)" } ?? "no time"), "
                    + "the other devices at \(mark)")
        }
    }

    /// Checks that a new process shows from disk what the previous process showed.
    private func checkRestart(_ device: HistoryDevice) throws {
        guard let shown = device.feed?.machine.shown else { return }
        let marks = device.feed?.machine.marks
        history.driver.dice.chance(50) ? device.client.kill() : device.client.terminate()
        device.client.setNetwork(false, isNoticed: true)
        device.client.start()
        device.follow()
        device.loadMore(.max)
        try history.pass(.seconds(2))
        guard let feed = device.feed else {
            throw WorldViolation(.convergence, "\(device.name) cannot start")
        }
        guard feed.machine.marks == marks else {
            throw WorldViolation(.feedMarks, "\(device.name) has other marks after a restart")
        }
        // A pager may have added or removed items for which the feed's way promises nothing.
        let promise = HistoryPromise(
            way: history.parameters.way, writes: history.writes,
            now: try history.oracle.truth(at: nil))
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
            try history.pass(.seconds(1))
            for _ in 0..<6 where pager.machine.isLoadingMore || !pager.isCurrent {
                try history.pass(.seconds(10))
            }
            try history.oracle.checkPager(device, pager)
        }
        guard !pager.machine.hasMore else {
            throw WorldViolation(.pagers, "\(device.name)'s pager never comes to the end")
        }
        try history.oracle.checkPager(device, pager)
    }
}
