import Foundation
import TidemarkModel
import TidemarkSync

/// The steps of the engine. Times are in microseconds, except in samples.
struct EngineSteps {
    let workload: Workload
    let folder: URL

    private var count: Int { workload.count }
    var conversation: Query { workload.newest(ofConversation: count / 100) }
    var newest: Query { workload.newer(than: count - 21) }

    func run(_ part: ClientPart) throws -> [ClientSample] {
        switch part {
        case .load: try load()
        case .fill: try fill()
        case .coldQuery: try coldQuery()
        case .coldPoint: try coldPoint()
        case .warm: try warm()
        case .writes: try writes()
        }
    }

    /// - Returns: The number of documents stored per second, including the move of the log, but
    ///   without the first batch. That batch exists only because the query needs results before it
    ///   requests an index. Also returns the view, which still listens.
    func load(
        _ engine: ClientEngine, indexing query: Query?
    ) -> (rate: Double, all: ServedListen) {
        // The view receives every document. The peer's figure is without a view.
        let listen = ServedListen(
            Query(collectionID: workload.collection), engine, countsOnly: true)
        var micros = 0.0
        for start in stride(from: 0, to: count, by: 500) {
            let documents = (start..<min(start + 500, count)).map(workload.document)
            let taken = listen.serve(documents)
            if start > 0 { micros += taken }
            if start == 0, let query {
                _ = engine.first(query)
                engine.settle()
                precondition(!engine.buildIndexes().isEmpty, "no index was wished for")
            }
        }
        precondition(listen.seen.count == count, "not all documents were shown")
        micros += engine.moveLog()
        return (Double(count - 500) / micros * 1e6, listen)
    }

    /// Measures the time of the log's move after a fixed number of changes. The log's content after
    /// a load would depend on the time at which the log became too long, which a single page in a
    /// cache can change.
    ///
    /// - Returns: A sample; empty if there are fewer documents, because their log is too short to
    ///   be moved.
    private func moveChanges(_ engine: ClientEngine, _ all: ServedListen) -> [ClientSample] {
        let changes = 2_000
        guard count >= changes else { return [] }
        let before = all.seen.snapshots
        for start in stride(from: 0, to: changes, by: 500) {
            all.serve(
                (start..<start + 500).map { number in
                    workload.document(workload.scattered(number)).changed(
                        likes: 5_000 + number, at: 1_754_000_000 + Int64(number))
                })
        }
        precondition(all.seen.snapshots > before, "changes that nobody is shown")
        return [ClientSample("log_move", engine.moveLog() / 1e3)]
    }

    func load() throws -> [ClientSample] {
        let engine = try ClientEngine(folder)
        let rate = load(engine, indexing: conversation).rate
        engine.close()
        return [
            ClientSample("a_load", rate),
            ClientSample("size", FileManager.default.megabytes(in: folder)),
        ]
    }

    /// Measures an app without indexes: it runs the queries, and then the engine is idle.
    func fill() throws -> [ClientSample] {
        let engine = try ClientEngine(folder)
        let (rate, all) = load(engine, indexing: nil)
        let move = moveChanges(engine, all)
        let first = time { precondition(engine.first(conversation) > 0) }
        engine.settle()
        let slices = engine.buildIndexes()
        let top = time { precondition(engine.first(newest) == 20) }
        _ = engine.buildIndexes()
        engine.close()
        return [
            ClientSample("a_load_no_index", rate),
            ClientSample("c_conv_first", first / 1e3), ClientSample("d_newest_first", top / 1e3),
            ClientSample("backfill_b", slices.reduce(0, +) / 1e3),
            ClientSample("backfill_b_at_once", slices.reduce(0, +) / 1e3),
            ClientSample("backfill_b_slice", (slices.max() ?? 0) / 1e3),
        ] + move
    }

    private func coldQuery() throws -> [ClientSample] {
        var engine: ClientEngine?
        let micros = try time {
            engine = try ClientEngine(folder)
            precondition(engine!.first(conversation) > 0)
        }
        let peak = OwnMemory.peakMegabytes
        engine!.close()
        return [ClientSample("cold_b", micros / 1e3)]
            + (peak.map { [ClientSample("memory_cold", $0)] } ?? [])
    }

    func coldPoint() throws -> [ClientSample] {
        var engine: ClientEngine?
        let path = workload.path(workload.scattered(17))
        let micros = try time {
            engine = try ClientEngine(folder)
            precondition(engine!.lookUp(path) == 1)
        }
        engine!.close()
        return [ClientSample("cold_p", micros / 1e3)]
    }

    private func warm() throws -> [ClientSample] {
        let engine = try ClientEngine(folder)
        let all = Query(collectionID: workload.collection, limit: .first(1))
        let conversations = repeated(conversation, engine)
        let top = repeated(newest, engine)
        let one = repeated(all, engine)
        let resumed = resumed(engine)
        let paths = (0..<1_000).map { workload.path(workload.scattered($0)) }
        let cold = median(1_000) { engine.lookUp(paths[$0]) }
        let point = median(1_000) { engine.lookUp(paths[$0]) }
        let peak = OwnMemory.peakMegabytes
        engine.close()
        return [
            ClientSample("c_conv_warm", conversations / 1e3),
            ClientSample("c_conv_resumed", resumed / 1e3), ClientSample("d_newest", top / 1e3),
            ClientSample("e_all_limit1", one / 1e3), ClientSample("f_lookup_first", cold),
            ClientSample("f_lookup", point),
        ] + (peak.map { [ClientSample("memory", $0)] } ?? [])
    }

    /// Returns the median of 50 runs, each with a separate listener.
    func repeated(_ query: Query, _ engine: ClientEngine) -> Double {
        var times: [Double] = []
        for _ in 0..<50 {
            times.append(time { precondition(engine.first(query) > 0) })
            engine.settle()
        }
        return times.median
    }

    /// Measures a conversation that a server has confirmed, so its rows are known.
    func resumed(_ engine: ClientEngine) -> Double {
        let query = workload.newest(ofConversation: 7)
        let listen = ServedListen(query, engine)
        listen.serve(documents(ofConversation: 7), isCurrent: true, at: 1_755_000_000)
        listen.handle.cancel()
        engine.settle()
        return repeated(query, engine)
    }

    func documents(ofConversation number: Int) -> [Document] {
        stride(from: number % (count / 50), to: count, by: count / 50).map(workload.document)
    }
}
