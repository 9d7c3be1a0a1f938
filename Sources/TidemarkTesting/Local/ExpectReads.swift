public import Tidemark
import TidemarkServer
import TidemarkSync

/// The error of a test whose reads exceed the limit.
public struct TooManyReads: Error, Sendable, CustomStringConvertible {
    public let limit: Int
    /// The reads by label, screen and cause.
    public let report: ReadReport

    public var description: String {
        "\(report.reads) reads, where at most \(limit) were expected:\n\(report.table)"
    }
}

/// Runs `body`, and fails when it was billed more reads than `limit`.
///
/// ```swift
/// let firestore = try LocalFirestore.start().firestore()
/// try await expectReads(atMost: 1, of: firestore) {
///     _ = try await firestore.document("rooms/blue").getDocument()
/// }
/// ```
///
/// The documents of a listener count when they arrive: wait for them inside `body`.
///
/// - Throws: ``TooManyReads`` with a listing, the error of `body`, or the error of the client's
///   meter.
public func expectReads<Value>(
    atMost limit: Int, of firestore: Firestore, isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Value
) async throws -> Value {
    let before = try await firestore.readMeter.report(days: 2)
    let value = try await body()
    let report = try await firestore.readMeter.report(days: 2).since(before)
    if report.reads > limit { throw TooManyReads(limit: limit, report: report) }
    return value
}

extension LocalFirestore {
    /// Throws ``MetersDiffer`` if the reads that the clients counted differ from the reads that the
    /// server billed, label by label. Call this while all clients still run and no operation is in
    /// progress.
    public func checkMeters() async throws {
        var counted: [String: Int] = [:]
        for client in runningClients {
            for (label, reads) in try await client.readMeter.report().byLabel {
                counted[label.isEmpty ? "unlabelled" : label, default: 0] += reads
            }
        }
        var billed: [String: Int] = [:]
        for row in meter() where row.reads > 0 { billed[row.label] = row.reads }
        if counted != billed { throw MetersDiffer(counted: counted, billed: billed) }
    }
}

/// The error of clients whose counts differ from the server's bill.
public struct MetersDiffer: Error, Sendable, CustomStringConvertible {
    /// The reads of all clients, by label.
    public let counted: [String: Int]
    public let billed: [String: Int]

    public var description: String {
        let labels = Set(counted.keys).union(billed.keys).sorted()
        return labels.map { "\($0): counted \(counted[$0] ?? 0), billed \(billed[$0] ?? 0)" }
            .joined(separator: "\n")
    }
}
