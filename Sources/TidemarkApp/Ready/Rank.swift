import Foundation
public import Tidemark

/// How many are before somebody, and how old that knowledge is.
public struct Rank: Hashable, Sendable {
    /// From 1; those with the same number share one.
    public let position: Int
    /// What the document has in the field, as far as this device knows.
    public let value: Double
    /// Of the position: the server's now, or its last one with the age and the reason.
    public let freshness: Freshness

    public var isFresh: Bool { freshness.isFresh }
}

extension CollectionReference {
    /// The rank of a document of this collection by a number in it, the largest first.
    ///
    /// ```swift
    /// let rank = try await firestore.collection("users").rank(of: "ada", by: "totalStamps")
    /// ```
    ///
    /// It counts those with more, and downloads none. Raced like any read: when the server does not answer
    /// in time, the last rank is shown, with its age. Costs a read for the document, and one for each 1,000
    /// documents above it, one at the least.
    ///
    /// - Parameters:
    ///   - deadline: What both reads together may take; the client's `readDeadline` for each where nothing
    ///     is said.
    /// - Throws: `notFound` for a document that is not there, `invalidArgument` for one without a number in
    ///   the field; what the server answered when no rank is kept.
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
