import Dispatch

/// Counts the reads that Firestore bills for this device, by label, screen, cause and day. The
/// counts are kept in the user's cache.
///
/// ```swift
/// print(try await firestore.readMeter.report(days: 1))
/// ```
///
/// The meter uses Firestore's rules: one read for each document, at least one for a query, one for
/// a missing document, and one for every 1,000 index entries of an aggregation. A listener that
/// resumes within half an hour costs the changed documents; later it costs its whole result. An
/// answer that was lost with its connection was billed, and is not counted. A kill loses the counts
/// of the last 10 s.
public struct ReadMeter: Sendable {
    let firestore: Firestore

    /// The reads of today and the days before it, at most 35 days. Costs no reads.
    ///
    /// - Throws: ``FirestoreError`` when the cache cannot be read.
    public func report(days: Int = 35) async throws(FirestoreError) -> ReadReport {
        try await answer { finish in
            firestore.engine.readReport(days: days, completion: finish)
        }
    }

    /// The state of each budget today, in the order of ``setBudgets(_:)``. Costs no reads.
    ///
    /// - Throws: ``FirestoreError`` when the cache cannot be read.
    public func budgetStates() async throws(FirestoreError) -> [ReadBudgetState] {
        try await answer { finish in firestore.engine.readBudgetStates(completion: finish) }
    }

    /// The state of each budget, now and after each bill. A slow loop skips to the newest states.
    /// The sequence ends when the loop is left.
    ///
    /// ```swift
    /// for await states in firestore.readMeter.budgetChanges {
    ///     isSaving = states.contains { $0.share >= 0.8 }
    /// }
    /// ```
    public var budgetChanges: AsyncStream<[ReadBudgetState]> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { input in
            let notify: @Sendable () -> Void = {
                firestore.engine.readBudgetStates {
                    if case .success(let states) = $0 { input.yield(states) }
                }
            }
            let handle = firestore.engine.observeReads { _ in notify() }
            input.onTermination = { _ in handle.cancel() }
            notify()
        }
    }

    /// Every bill, used-up budget, stopped storm and failed attempt from now on. The sequence ends
    /// when the loop is left. A loop that is more than 1,000 events behind misses the oldest
    /// events; ``report(days:)`` contains all of them.
    public var events: AsyncStream<ReadEvent> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1_000)) { input in
            let handle = firestore.engine.observeReads { input.yield($0) }
            input.onTermination = { _ in handle.cancel() }
        }
    }

    /// Calls `listener` on the listeners' queue for each event of ``events``.
    public func addListener(
        _ listener: @escaping @Sendable (ReadEvent) -> Void
    ) -> any ListenerRegistration {
        let queue = firestore.callbackQueue
        return Registration { isRemoved in
            firestore.engine.observeReads { event in
                queue.async { if !isRemoved() { listener(event) } }
            }
        }
    }

    /// Replaces ``FirestoreSettings/readBudgets``. Listeners that a removed budget had stopped
    /// continue.
    public func setBudgets(_ budgets: [ReadBudget]) { firestore.engine.setReadBudgets(budgets) }
}
