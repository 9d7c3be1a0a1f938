package import TidemarkModel

/// Performs the migration, the survey and the check of one collection after another.
package struct ChangeTimeMigration<C: Clock>: Sendable where C.Duration == Duration {
    private let calls: MigrationCalls
    private let clock: C

    package init(_ calls: MigrationCalls, clock: C) {
        self.calls = calls
        self.clock = clock
    }

    /// Gives a change time to all documents of a collection that have none.
    ///
    /// - Parameters:
    ///   - collection: The documents.
    ///   - progress: The state in which an earlier process stopped; a new one to begin.
    ///   - value: The value that is written.
    ///   - rate: The maximum number of documents to write in a second.
    ///   - save: Keeps the progress on disk. Its error stops the migration.
    /// - Returns: The progress, and the reason why it stopped; nil if it finished.
    package func fill(
        _ collection: MigratedCollection, from progress: FillProgress, value: FilledValue,
        rate: Int, save: (FillProgress) throws(RPCStatus) -> Void
    ) async -> (progress: FillProgress, stopped: RPCStatus?) {
        var machine = FillMachine(progress, rate: rate)
        var effect = machine.start()
        let start = clock.now
        while true {
            let event: FillMachine.Event
            do throws(RPCStatus) {
                switch effect {
                case .read(let last, let limit):
                    let page = try await calls.page(of: collection, after: last, limit: limit)
                    event = .page(page.documents, readTime: page.readTime)
                case .look(let paths):
                    event = .found(try await calls.look(at: paths, in: collection))
                case .write(let stamps):
                    event = .written(try await calls.write(stamps, value: value))
                case .save(let progress):
                    try save(progress)
                    event = .saved
                case .wait(let time):
                    try await wait(time)
                    event = .woke
                case .end(.finished): return (machine.progress, nil)
                case .end(.stopped(let status)): return (machine.progress, status)
                }
            } catch { event = .failed(error) }
            if case .failed(let status) = event, case .wait = effect {
                return (machine.progress, status)
            }
            effect = machine.step(event, at: start.duration(to: clock.now))
        }
    }

    /// Compares the change times of all documents with their last writes. Costs a read for each
    /// document.
    package func check(
        _ collection: MigratedCollection, _ tally: CheckTally
    ) async throws(RPCStatus) -> (tally: CheckTally, reads: Int) {
        var machine = CheckMachine(tally)
        var effect = machine.start()
        while true {
            let event: CheckMachine.Event
            switch effect {
            case .read(let last, let limit):
                do throws(RPCStatus) {
                    event = .page(
                        try await calls.page(of: collection, after: last, limit: limit).documents)
                } catch { event = .failed(error) }
            case .wait(let time):
                try await wait(time)
                event = .woke
            case .end(.finished): return (machine.tally, machine.reads)
            case .end(.stopped(let status)): throw status
            }
            effect = machine.step(event)
        }
    }

    private func wait(_ time: Duration) async throws(RPCStatus) {
        do { try await clock.sleep(for: time) } catch {
            throw RPCStatus(.cancelled, "The migration was cancelled.")
        }
    }

    /// Counts the documents of a collection. Costs a read for each 1,000, three times.
    package func survey(
        _ collection: MigratedCollection
    ) async throws(RPCStatus) -> MigrationSurvey {
        var survey = MigrationSurvey(documents: try await calls.count(collection.query))
        guard survey.documents > 0 else {
            survey.others = try await calls.collectionIDs(beside: collection)
            return survey
        }
        do throws(RPCStatus) {
            var query = collection.query
            query.orders = [Order(calls.field)]
            survey.withField = try await calls.count(query)
            query.filter = .and([
                .field(calls.field, .greaterThanOrEqual, .timestamp(.min)),
                .field(calls.field, .lessThanOrEqual, .timestamp(.max)),
            ])
            survey.withTime = try await calls.count(query)
        } catch {
            // Without an index of the field, only a read of all documents can tell.
            guard error.code == .failedPrecondition else { throw error }
        }
        return survey
    }
}

/// The numbers that are known of a collection before its documents are read.
package struct MigrationSurvey: Equatable, Sendable {
    package let documents: Int
    /// The number of documents with the field; nil if no index can count them.
    package var withField: Int?
    /// The number of documents in which the field is a time; nil if no index can count them.
    package var withTime: Int?
    /// The ids of the collections beside an empty one.
    package var others: [String] = []

    package init(documents: Int) { self.documents = documents }

    /// The number of documents without the field; nil if it is not known.
    package var missing: Int? { withField.map { max(0, documents - $0) } }
    /// The number of documents whose field is no time; nil if it is not known.
    package var wrongType: Int? {
        guard let withField, let withTime else { return nil }
        return max(0, withField - withTime)
    }

    /// The reads that the counts have cost, by Firestore's rule: one for each 1,000 entries.
    package var reads: Int {
        func price(_ count: Int) -> Int { max(1, (count + 999) / 1_000) }
        return price(documents) + (withField.map(price) ?? 0) + (withTime.map(price) ?? 0)
    }
}
