import Foundation
public import Tidemark

/// The position of a document in an order, and the age of that information.
public struct Rank: Hashable, Sendable {
    /// The position, from 1; documents with the same number share a position.
    public let position: Int
    /// The document's value in the field, as far as this device knows it.
    public let value: Double
    /// The freshness of the position: the server's present position, or its last with the age and
    /// the reason.
    public let freshness: Freshness

    public var isFresh: Bool { freshness.isFresh }
}

extension CollectionReference {
    /// Returns the rank of a document of this collection by a number in it, the largest first.
    ///
    /// ```swift
    /// let rank = try await firestore.collection("users").rank(of: "ada", by: "totalStamps")
    /// ```
    ///
    /// The server counts the documents with a larger number, and sends none. The read races a
    /// deadline like any other: if the server does not answer in time, the result is the last rank,
    /// with its age. Costs a read for the document, and one for each 1,000 documents above it, at
    /// least one.
    ///
    /// - Parameters:
    ///   - deadline: The maximum duration of both reads together; nil for the client's
    ///     `readDeadline` for each.
    /// - Throws: `notFound` for a missing document, `invalidArgument` for a document without a
    ///   number in the field, or the server's error if no rank is stored.
    public func rank(
        of id: String, by field: some FieldName, within deadline: Duration? = nil
    ) async throws(FirestoreError) -> Rank {
        let path = try field.resolved()
        let start = ContinuousClock.now
        let document = try await self.document(id).getDocument(within: deadline)
        let value = try Self.number(in: document, at: path)
        let left = deadline.map { max(.zero, $0 - (.now - start)) }
        let above = whereField(path, isGreaterThan: value).count
        let answer = try await above.raced(within: left, keptAs: rankName(of: id, by: path))
        return Rank(answer, value: value)
    }

    /// Returns the last rank that the server has given to this device, with its age. Sends nothing
    /// and costs no read, so a launch can show the rank before the server answers.
    ///
    /// - Throws: `unavailable` if the device has no rank or not the document; `notFound` and
    ///   `invalidArgument` as ``rank(of:by:within:)``.
    public func lastRank(
        of id: String, by field: some FieldName
    ) async throws(FirestoreError) -> Rank {
        let path = try field.resolved()
        let document = try await self.document(id).getDocument(source: .cache)
        let value = try Self.number(in: document, at: path)
        let above = whereField(path, isGreaterThan: value).count
        guard let answer = try await above.kept(as: rankName(of: id, by: path)) else {
            throw FirestoreError(
                .unavailable, "This device has no rank of \(document.reference.path).")
        }
        return Rank(answer, value: value)
    }

    /// The name under which the device keeps the rank, whatever the document's number is.
    private func rankName(of id: String, by field: FieldPath) -> String {
        "rank \(path) \(id) \(field.segments)"
    }

    private static func number(
        in document: DocumentSnapshot, at field: FieldPath
    ) throws(FirestoreError) -> Double {
        guard document.exists else {
            throw FirestoreError(.notFound, "There is no \(document.reference.path).")
        }
        switch document.fields?[field] {
        case .integer(let number)?: return Double(number)
        case .double(let number)? where !number.isNaN: return number
        default:
            throw .invalidArgument("\(document.reference.path) has no number in \(field.segments).")
        }
    }
}

extension Rank {
    fileprivate init(_ above: AggregateQuerySnapshot, value: Double) {
        self.init(
            position: above.count.intValue + 1, value: value, freshness: above.freshness)
    }
}
