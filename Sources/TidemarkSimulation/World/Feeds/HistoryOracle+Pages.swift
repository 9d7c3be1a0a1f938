import TidemarkApp
import TidemarkModel
import TidemarkSync
import TidemarkTesting

// Checks of pagers: their rows at every moment and at the end.

extension HistoryOracle {
    /// Checks that a pager whose pages are all confirmed shows a full read, if nothing has been
    /// written since the first page was confirmed.
    func checkPages(_ device: HistoryDevice) throws {
        guard history.world.server.isUp, let pager = device.pager, pager.process.isAlive,
            pager.isCurrent,
            let first = pager.firstReadTime
        else { return }
        // A write that was undone leaves the server unchanged, but a row that shows it proves it.
        if pager.machine.rows.contains(where: { $0.isPending || $0.content.updateTime > first }) {
            return
        }
        let state = HistoryPager.Compared(
            rows: Array(pager.machine.rows), writes: history.writes.count)
        if device.comparedPages == state { return }
        let (then, now) = (try? truth(at: first), try truth(at: nil))
        guard then?.all.mapValues(\.updateTime) == now.all.mapValues(\.updateTime) else { return }
        let found = WorldFound<Set<DocumentPath>>()
        askPending(device, pager.process) { found.value = $0 }
        try history.world.pass(.zero)
        guard found.value?.isEmpty == true, pager.process.isAlive, pager.isCurrent else { return }
        device.comparedPages = state
        try checkPager(device, pager)
    }

    func checkPager(_ device: HistoryDevice, _ pager: HistoryPager) throws {
        guard pager.isCurrent else {
            throw WorldViolation(.pagers, "\(device.name)'s pager stays what the cache had")
        }
        history.figures.pages += 1
        history.figures.pageRows += pager.machine.rows.count
        let documents = Array(try truth(at: nil).all.values)
        if let fault = pager.fault(documents, history.parameters) {
            throw WorldViolation(
                .pagers,
                "\(device.name)'s pager: \(fault); it shows \(pager.machine.rows.map(\.path.id))")
        }
    }
}
