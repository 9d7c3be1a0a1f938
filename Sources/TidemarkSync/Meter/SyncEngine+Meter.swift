public import TidemarkModel

extension SyncEngine {
    /// What was billed on this device and for the present user, today and on the days before: of 35
    /// days at the most. Costs a read of a few rows of the cache; asks no server.
    public func readReport(
        days: Int = 35, completion: @escaping @Sendable (Result<ReadReport, SyncError>) -> Void
    ) {
        perform { core in
            if let refusal = core.refusal { return completion(.failure(refusal)) }
            completion(
                Result { try core.readReport(days: days) }.mapError(SyncError.init(storing:)))
        }
    }

    /// Tells of every bill, of budgets and storms and of attempts that failed, until the returned handle is cancelled. On the
    /// engine's executor.
    public func observeReads(
        _ observer: @escaping @Sendable (ReadEvent) -> Void
    ) -> any CancellableCall {
        subscribe { core, id in
            if core.state == .running { core.readObservers[id] = observer }
        } end: {
            $0.readObservers[$1] = nil
        }
    }

    /// Replaces the budgets, from the next read on.
    public func setReadBudgets(_ budgets: [ReadBudget]) { perform { $0.setBudgets(budgets) } }
}
