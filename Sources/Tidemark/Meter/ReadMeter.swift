import Dispatch

/// Counts what Firestore bills this device in reads, as the answers come: by label, screen, cause and
/// day. Kept with the cache, a user's with the user's.
///
/// ```swift
/// print(try await firestore.readMeter.report(days: 1))
/// ```
///
/// It counts by Firestore's rules: one a document, at least one a query, one for a document that is
/// missing, one for each 1,000 index entries of an aggregation; a listener that comes back within half
/// an hour costs what has changed, and a later one its whole result. It counts what it hears of: what the
/// server sent over a connection that broke was billed, and is not in here. A kill takes the counts of
/// the last 10 s.
public struct ReadMeter: Sendable {
    let firestore: Firestore

    /// Today and the days before it, 35 at the most. Asks no server.
    ///
    /// - Throws: What the cache throws.
    public func report(days: Int = 35) async throws(FirestoreError) -> ReadReport {
        try await answer { finish in
            firestore.engine.readReport(days: days, completion: finish)
        }
    }

    /// Every bill from now on, the budgets that are used up, the storms that are stopped and the
    /// attempts of calls that failed. Ends when the loop is left. A slow loop misses the oldest of more than 1,000: ``report(days:)`` has all.
    public var events: AsyncStream<ReadEvent> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1_000)) { input in
            let handle = firestore.engine.observeReads { input.yield($0) }
            input.onTermination = { _ in handle.cancel() }
        }
    }

    /// As ``events``, for callers with closures, on the listeners' queue.
    public func addListener(
        _ listener: @escaping @Sendable (ReadEvent) -> Void
    ) -> any ListenerRegistration {
        let queue = firestore.callbackQueue
        return Observation { isRemoved in
            firestore.engine.observeReads { event in
                queue.async { if !isRemoved() { listener(event) } }
            }
        }
    }

    /// Replaces ``FirestoreSettings/readBudgets``. Listeners that are held back for one that is no more
    /// go on.
    public func setBudgets(_ budgets: [ReadBudget]) { firestore.engine.setReadBudgets(budgets) }
}
