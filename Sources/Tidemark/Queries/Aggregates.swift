public import Foundation

/// A figure over the rows of a query.
public struct AggregateField: Hashable, Sendable, CustomStringConvertible {
    fileprivate enum Kind: Hashable, Sendable {
        case count
        case sum(Result<FieldPath, FirestoreError>)
        case average(Result<FieldPath, FirestoreError>)
    }

    fileprivate let kind: Kind

    /// The number of rows.
    public static func count() -> AggregateField { AggregateField(kind: .count) }

    /// The sum of the numbers in a field; 0 if there are none.
    public static func sum(_ field: some FieldName) -> AggregateField {
        AggregateField(kind: .sum(Result { () throws(FirestoreError) in try field.resolved() }))
    }

    /// The mean of the numbers in a field; null if there are none.
    public static func average(_ field: some FieldName) -> AggregateField {
        AggregateField(kind: .average(Result { () throws(FirestoreError) in try field.resolved() }))
    }

    /// The description, such as `sum(price)`. Equal figures have equal descriptions.
    public var description: String {
        switch kind {
        case .count: "count()"
        case .sum(let field): "sum(\(Self.name(field)))"
        case .average(let field): "average(\(Self.name(field)))"
        }
    }

    private static func name(_ field: Result<FieldPath, FirestoreError>) -> String {
        (try? field.get()).map { "\($0.segments)" } ?? "?"
    }

    fileprivate func operation() throws(FirestoreError) -> Aggregation.Operator {
        switch kind {
        case .count: .count(upTo: nil)
        case .sum(let field): .sum(try field.get())
        case .average(let field): .average(try field.get())
        }
    }
}

/// The source of an aggregation.
public enum AggregateSource: Hashable, Sendable {
    /// The server. If the server does not answer in time, the result is its last figures from the
    /// cache: stale, with their age. The cache keeps the last 64 aggregations of a user.
    case `default`
    case server
    /// The rows on this device, with pending writes; costs no reads and works offline.
    /// ``AggregateQuerySnapshot/freshness`` states when the server last confirmed that the rows are
    /// complete.
    case cache
}

/// Figures over the rows of a query.
public struct AggregateQuery: Hashable, Sendable {
    public let query: Query
    let fields: [AggregateField]

    /// Asks the server, or computes the figures from the rows on this device. The server's answer
    /// costs one read for every 1,000 index entries, at least one.
    ///
    /// - Parameters:
    ///   - source: The source of the aggregation.
    ///   - deadline: The maximum time for the server; nil for the client's `readDeadline`.
    /// - Throws: `unavailable` or `deadlineExceeded` if the server does not answer in time. With
    ///   the default source, this happens only if the cache has no earlier answer.
    public func getAggregation(
        source: AggregateSource = .server, within deadline: Duration? = nil
    ) async throws(FirestoreError) -> AggregateQuerySnapshot {
        if source == .default { return try await raced(within: deadline) }
        let firestore = query.firestore
        let value = try query.runnable()
        var aggregations: [Aggregation] = []
        for (index, field) in fields.enumerated() {
            aggregations.append(
                Aggregation(alias: Self.alias(index), try field.operation()))
        }
        if source == .cache {
            let (reply, freshness): (AggregationReply, Freshness) = try await answer { finish in
                firestore.engine.cachedAggregate(
                    value, aggregations, here: true, completion: finish)
            }
            return AggregateQuerySnapshot(query: self, reply: reply, freshness: freshness)
        }
        let deadline = deadline ?? firestore.readDeadline
        let reply: AggregationReply = try await answer { finish in
            firestore.engine.aggregate(
                value, aggregations, deadline: deadline, tag: query.tag.inScope, completion: finish)
        }
        return AggregateQuerySnapshot(
            query: self, reply: reply, freshness: .fresh(readTime: reply.readTime))
    }

    /// Runs like the `async` form; `completion` is called on the listeners' queue.
    public func getAggregation(
        source: AggregateSource,
        completion: @escaping (AggregateQuerySnapshot?, (any Error)?) -> Void
    ) {
        query.firestore.callBack(completion) { () async throws(FirestoreError) in
            try await self.getAggregation(source: source)
        }
    }

    fileprivate static func alias(_ index: Int) -> String { "aggregate_\(index)" }
}

public struct AggregateQuerySnapshot: Hashable, Sendable {
    public let query: AggregateQuery
    let reply: AggregationReply
    /// States whether the figures are the server's. Figures from the cache have the age of its
    /// rows; nil if these were never known to be complete.
    public let freshness: Freshness

    /// The read time of the figures; the epoch for a cache that the server never confirmed.
    public var readTime: Timestamp { reply.readTime }

    /// The number of rows; 0 if it was not requested.
    public var count: NSNumber { self.get(.count()) as? NSNumber ?? 0 }

    /// Returns the figure, a number or null; nil if it was not requested.
    public func get(_ field: AggregateField) -> Any? {
        guard let index = query.fields.firstIndex(of: field),
            let value = reply.values?[AggregateQuery.alias(index)]
        else { return nil }
        return ValueExport(firestore: query.query.firestore, serverTimestamps: .none).any(value)
    }
}

extension Query {
    public var count: AggregateQuery { aggregate([.count()]) }

    public func aggregate(_ fields: [AggregateField]) -> AggregateQuery {
        AggregateQuery(query: self, fields: fields)
    }
}
