import Dispatch
import Foundation
import Tidemark
import TidemarkTesting

/// The steps in one process, with an app's client on the engine's own dispatch queue and a server
/// that never answers.
struct CallerSteps {
    private let workload: Workload
    private let only: [String]
    private let firestore: Firestore

    private struct Message: Decodable {
        let clientToken: String
        let conversationId: String
        let likes: Int
        let read: Bool
        let senderId: String
        let seq: Int
        let text: String
        let timestamp: Date
    }

    init(
        _ workload: Workload, _ folder: URL, only: [String],
        scheduler: any EngineScheduler = DispatchScheduler()
    ) throws {
        self.workload = workload
        self.only = only
        let settings = FirestoreSettings(
            cache: .directory(folder.path), cacheSizeBytes: nil, readDeadline: .seconds(60))
        settings.dispatchQueue = DispatchQueue(label: "benchmark.listeners")
        firestore = try Firestore(
            projectID: Workload.database.project, settings: settings,
            environment: SyncEnvironment(
                transport: ScriptedTransport(), scheduler: scheduler,
                now: { Timestamp(date: Date()) }, random: { Double.random(in: 0..<1) }))
    }

    func close() async { await firestore.terminate() }

    private var collection: CollectionReference { firestore.collection(workload.collection) }

    private func all(_ number: Int) -> Tidemark.Query {
        collection.whereField("conversationId", isEqualTo: workload.conversation(number))
    }

    private func newest(_ number: Int) -> Tidemark.Query {
        all(number).order(by: "timestamp", descending: true).limit(to: 50)
    }

    private var conversation: Tidemark.Query { newest(workload.count / 100) }

    /// Returns numbers that are spread over a collection, each at most once.
    private func scattered(_ number: Int, of count: Int) -> Int { number &* 7_919 % count }

    /// - Returns: A sample for each selected step.
    private func samples(
        _ steps: [(CallerStep, () async throws -> Double)]
    ) async throws -> [ClientSample] {
        var samples: [ClientSample] = []
        for (step, body) in steps where only.isEmpty || only.contains(step.rawValue) {
            samples.append(ClientSample(step.rawValue, try await body()))
        }
        return samples
    }

    /// Returns the median of 300 runs, or of as many as fit into a second.
    private func sampled(_ body: (Int) async throws -> Double) async rethrows -> Double {
        let end = ContinuousClock.now + .seconds(1)
        var times: [Double] = []
        for round in 0..<310 where times.count < 3 || ContinuousClock.now < end {
            let taken = try await body(round)
            // The first runs prepare statements and read pages.
            if round >= 10 || ContinuousClock.now >= end { times.append(taken) }
        }
        return times.median
    }
}

extension CallerSteps {
    func reads() async throws -> [ClientSample] {
        try await samples([
            (.rows, { try await asked(conversation) { $0.documents.count } }),
            (.rowsData, { try await asked(conversation, Self.fields) }),
            (.rowsDecoded, { try await asked(conversation, Self.messages) }),
            (.rowsAnother, rowsAnother), (.document, document),
            (.firstSnapshot, firstSnapshot), (.rowsOffline, rowsOffline),
            (.countWhere, { try await counted(all(workload.count / 100), 50) }),
            (.sumAverageWhere, { try await summed(all(workload.count / 100)) }),
            (.count, { try await counted(collection, workload.count) }),
            (.sumAverage, { try await summed(collection) }),
            (
                .countKept,
                {
                    try await Task.sleep(for: .seconds(3))
                    return try await counted(collection, workload.count)
                }
            ), (.sumAverageKept, { try await summed(collection) }),
        ]) + (OwnMemory.peakMegabytes.map { [ClientSample("memory", $0)] } ?? [])
    }

    private static func fields(_ snapshot: QuerySnapshot) -> Int {
        var found = 0
        for document in snapshot.documents { found += document.data().count }
        return found / 8
    }

    private static func messages(_ snapshot: QuerySnapshot) throws -> Int {
        try snapshot.documents.map { try $0.data(as: Message.self) }.count
    }

    private func asked(
        _ query: Tidemark.Query, source: FirestoreSource = .cache,
        _ use: (QuerySnapshot) throws -> Int
    ) async throws -> Double {
        try await sampled { _ in
            try await time {
                let found = try use(try await query.getDocuments(source: source))
                precondition(found == 50)
            }
        }
    }

    private func rowsAnother() async throws -> Double {
        try await sampled { round in
            let query = newest(scattered(round, of: workload.count / 50))
            return try await time {
                let found = try await query.getDocuments(source: .cache)
                precondition(found.documents.count == 50)
            }
        }
    }

    private func document() async throws -> Double {
        try await sampled { round in
            let path = workload.path(scattered(round, of: workload.count)).text
            let document = firestore.document(path)
            return try await time {
                let found = try await document.getDocument(source: .cache)
                precondition(found.exists)
            }
        }
    }

    private func rowsOffline() async throws -> Double {
        await firestore.disableNetwork()
        let taken = try await asked(conversation, source: .default) { $0.documents.count }
        await firestore.enableNetwork()
        return taken
    }

    /// Measures the time until the listener is called. Removing the listener and resuming this task
    /// are not included.
    private func firstSnapshot() async throws -> Double {
        await sampled { round in
            let query = newest(scattered(round, of: workload.count / 50))
            let begun = ContinuousClock.now
            let (told, notify) = AsyncStream.makeStream(of: ContinuousClock.Instant.self)
            // tidemark:ignore listener-error-ignored without an answer the precondition fails
            let listener = query.addSnapshotListener { snapshot, _ in
                precondition(snapshot?.documents.count == 50)
                notify.yield(.now)
            }
            var end = begun
            for await instant in told {
                end = instant
                break
            }
            listener.remove()
            return (end - begun) / .microseconds(1)
        }
    }

    private func counted(_ query: Tidemark.Query, _ expected: Int) async throws -> Double {
        try await sampled { _ in
            try await time {
                let found = try await query.count.getAggregation(source: .cache)
                precondition(found.count.intValue == expected)
            }
        }
    }

    private func summed(_ query: Tidemark.Query) async throws -> Double {
        let fields: [AggregateField] = [.sum("likes"), .average("likes")]
        return try await sampled { _ in
            try await time {
                let found = try await query.aggregate(fields).getAggregation(source: .cache)
                precondition(found.get(fields[0]) != nil && found.get(fields[1]) != nil)
            }
        }
    }

    func writes() async throws -> [ClientSample] {
        try await samples([
            (
                .update,
                {
                    try await sampled { round in
                        let path = workload.path(scattered(round + 7, of: workload.count)).text
                        let document = firestore.document(path)
                        return try await time {
                            _ = try await document.enqueueUpdateData(["likes": 5_000 + round])
                        }
                    }
                }
            )
        ])
    }

    /// Measures the time of one query in a process that has read one document, and then the longest
    /// job during the first aggregation and listener.
    ///
    /// - Parameter scheduler: The client's scheduler.
    func first(_ scheduler: HeldScheduler) async throws -> [ClientSample] {
        let path = workload.path(17).text
        let opened = try await firestore.document(path).getDocument(source: .cache)
        let query = conversation
        let taken = try await time {
            let found = try await query.getDocuments(source: .cache)
            precondition(opened.exists && found.documents.count == 50)
        }
        let read = collection.whereField("read", isEqualTo: true)
        _ = try await read.aggregate([.count(), .sum("likes")]).getAggregation(source: .cache)
        let sender = collection.whereField("senderId", isEqualTo: "user-0003")
        let told = AsyncStream.makeStream(of: Void.self)
        // tidemark:ignore unbounded-listener,listener-error-ignored one snapshot is waited for
        let listener = sender.addSnapshotListener { _, _ in told.continuation.yield() }
        for await _ in told.stream { break }
        listener.remove()
        return [
            ClientSample(CallerStep.firstQuery.rawValue, taken),
            ClientSample(CallerStep.longestStep.rawValue, scheduler.longest / .microseconds(1)),
        ]
    }
}
