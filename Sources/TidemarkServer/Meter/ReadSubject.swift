package import TidemarkModel

/// The object of a billed read, for the tally of reads.
package struct ReadSubject: Sendable {
    package enum Asked: Sendable {
        /// A query, and the aggregations over its rows.
        case query(Query, [Aggregation])
        /// Documents by their names, with the first of them.
        case documents(DocumentPath)
        /// A place for which the meter has only a name, such as the reads of security rules.
        case place(String)
    }

    /// The part of a call to which the reads belong.
    package enum Part: Sendable {
        /// The begin of a call, or of a listener's target without a token.
        case start
        /// The begin of a target that resumes, and is not billed in full.
        case resume
        /// A later part of an answer, or a change that a listener receives.
        case more
    }

    package var asked: Asked
    package var part: Part

    package init(_ asked: Asked, _ part: Part = .start) {
        self.asked = asked
        self.part = part
    }

    static func query(
        _ query: Query, aggregations: [Aggregation] = [], part: Part = .start
    ) -> ReadSubject {
        ReadSubject(.query(query, aggregations), part)
    }

    /// Returns the same subject for another part of the call.
    func with(_ part: Part) -> ReadSubject { ReadSubject(asked, part) }
}

extension ReadSubject.Asked {
    /// The collection, with `*` for the ids of documents.
    var target: String {
        switch self {
        case .query(let query, _): ReadPattern.target(of: query)
        case .documents(let path): ReadPattern.collection(path.parent.text)
        case .place(let name): ReadPattern.collection(name)
        }
    }

    /// The query with `?` for its values, and without limit and offset; empty for other subjects.
    var shape: String {
        guard case .query(let query, let aggregations) = self else { return "" }
        return ReadPattern.shape(of: query, aggregations)
    }

    /// The limit of the query; nil if there is none.
    var limit: Int? {
        guard case .query(let query, _) = self else { return nil }
        return query.limit?.count ?? query.findNearest?.limit
    }
}
