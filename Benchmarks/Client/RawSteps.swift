import Foundation

/// The same reads and inserts in raw SQLite, without views, decoding and targets.
struct RawSteps {
    let workload: Workload
    let folder: URL

    private var count: Int { workload.count }
    private var conversation: String { workload.conversation(count / 100) }
    private var second: Int64 { workload.seconds(count - 21) }
    private func open() -> RawDatabase {
        RawDatabase(folder.appending(path: "raw.sqlite").path)
    }

    func run(_ part: ClientPart) -> [ClientSample] {
        switch part {
        case .load: load()
        case .fill: fill()
        case .coldQuery: coldQuery()
        case .coldPoint: coldPoint()
        case .warm: warm()
        case .writes: writes()
        }
    }

    /// Loads all rows including the move of the log, as our steps do.
    private func load(_ raw: RawDatabase) -> Double {
        var micros = 0.0
        for start in stride(from: 0, to: count, by: 500) {
            let rows = (start..<min(start + 500, count)).map { RawDatabase.Row(workload, $0) }
            let taken = time { raw.load(rows) }
            if start > 0 { micros += taken }
        }
        micros += time { raw.moveLog() }
        return Double(count - 500) / micros * 1e6
    }

    private func load() -> [ClientSample] {
        var raw: RawDatabase? = open()
        raw!.indexConversations()
        let rate = load(raw!)
        raw = nil
        return [
            ClientSample("a_load", rate),
            ClientSample("size", FileManager.default.megabytes(in: folder)),
        ]
    }

    private func fill() -> [ClientSample] {
        let raw = open()
        let rate = load(raw)
        let first = time { precondition(raw.conversation(conversation) > 0) }
        let created = time { raw.indexConversations() }
        raw.makeEntries()
        let entered = time { raw.enterConversations() }
        let newest = time { precondition(raw.newer(than: second) == 20) }
        raw.indexTimes()
        return [
            ClientSample("a_load_no_index", rate),
            ClientSample("c_conv_first", first / 1e3), ClientSample("d_newest_first", newest / 1e3),
            ClientSample("backfill_b", entered / 1e3),
            ClientSample("backfill_b_at_once", created / 1e3),
        ]
    }

    private func coldQuery() -> [ClientSample] {
        let micros = time { precondition(open().conversation(conversation) > 0) }
        return [ClientSample("cold_b", micros / 1e3)]
    }

    private func coldPoint() -> [ClientSample] {
        let id = workload.id(workload.scattered(17))
        return [ClientSample("cold_p", time { precondition(open().point(id) > 0) } / 1e3)]
    }

    private func warm() -> [ClientSample] {
        let raw = open()
        let conversations = median(50) { _ in raw.conversation(conversation) }
        let ids = (0..<1_000).map { workload.id(workload.scattered($0)) }
        return [
            ClientSample("c_conv_warm", conversations / 1e3),
            ClientSample("c_conv_resumed", conversations / 1e3),
            ClientSample("d_newest", median(50) { _ in raw.newer(than: second) } / 1e3),
            ClientSample("e_all_limit1", median(50) { _ in raw.first() } / 1e3),
            ClientSample("f_lookup_first", median(1_000) { raw.point(ids[$0]) }),
            ClientSample("f_lookup", median(1_000) { raw.point(ids[$0]) }),
        ]
    }

    /// Measures writes. A write looks up the document and adds a row to a queue. With 500 rows in
    /// the queue, a query also reads those. An acknowledgement moves a row from the queue to the
    /// others.
    private func writes() -> [ClientSample] {
        let raw = open()
        raw.makeQueue()
        // Our engine syncs its queue and nothing else.
        raw.syncEveryCommit(true)
        let rows = (0..<500).map { RawDatabase.Row(workload, count + $0) }
        let written = median(500) { round in
            precondition(raw.point(rows[round].id) == 0)
            raw.queue(rows[round])
            return 1
        }
        raw.emptyQueue()
        let unread = median(500) { round in
            raw.queue(rows[round])
            return 1
        }
        raw.syncEveryCommit(false)
        let pending = median(50) { _ in raw.conversation(conversation) + raw.queued() }
        let acknowledged = median(500) { round in
            raw.acknowledge(rows[round])
            return 1
        }
        let numbers = Array(
            stride(from: count / 100 % (count / 50), to: count, by: count / 50))
        let changed = (0..<200).map { round in
            RawDatabase.Row(workload, numbers[round % numbers.count], likes: 10_000 + round)
        }
        raw.makeToken()
        let updated = median(200) { round in
            raw.update(changed[round], token: Int64(round + 1))
            return 1
        }
        return [
            ClientSample("g_write", written), ClientSample("g_write_unread", unread),
            ClientSample("g_conv_with_500_pending", pending / 1e3),
            ClientSample("g_ack", acknowledged), ClientSample("i_update_one", updated),
        ]
    }
}
