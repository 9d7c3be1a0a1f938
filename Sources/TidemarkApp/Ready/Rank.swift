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
        guard document.exists else {
            throw FirestoreError(.notFound, "There is no \(document.reference.path).")
        }
        let value: Double
        switch document.fields?[path] {
        case .integer(let number)?: value = Double(number)
        case .double(let number)? where !number.isNaN: value = number
        default:
            throw .invalidArgument("\(document.reference.path) has no number in \(path.segments).")
        }
        let left = deadline.map { max(.zero, $0 - (.now - start)) }
        let above = whereField(path, isGreaterThan: value).count
        let answer = try await above.raced(
            within: left, keptAs: "rank \(self.path) \(id) \(path.segments)")
        return Rank(
            position: answer.count.intValue + 1, value: value, freshness: answer.freshness)
    }
}
