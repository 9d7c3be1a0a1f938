/// Decides when the server looks for expired documents, and which of them it deletes.
///
/// A search follows each pause of ten seconds and each change of the clock. It is repeated until it
/// finds nothing, or nothing that could be deleted.
struct ExpiryMachine: Equatable, Sendable {
    /// The time between two searches that find nothing.
    static let pause = Duration.seconds(10)
    /// The maximum number of documents of one part.
    static let partSize = 200
    /// The number of documents that could not be deleted after which a search ends.
    static let maxKept = 1_000

    enum Event: Equatable, Sendable {
        /// The server has started, or its clock was set.
        case clockSet
        /// The timer of this number is due.
        case timer(Int)
        /// The search has found these documents, or none.
        case found([ExpiredDocument])
        /// The part was tried. The documents are those that could not be deleted.
        case tried(kept: [ExpiredDocument])
    }

    enum Effect: Equatable, Sendable {
        /// Finds up to `most` documents.
        case find(most: Int)
        case delete([ExpiredDocument])
        case startTimer(Int)
    }

    private enum State: Equatable {
        case pausing
        case finding
        case deleting
    }

    private var state = State.pausing
    private var timer = 0
    /// True if the clock was set during a search.
    private var isDueAgain = false
    /// The versions that could not be deleted in this search, because they are locked or have
    /// changed.
    private var kept: Set<ExpiredDocument> = []

    mutating func step(_ event: Event) -> [Effect] {
        switch (event, state) {
        case (.clockSet, .pausing): return begin()
        case (.clockSet, _): isDueAgain = true
        case (.timer(timer), .pausing): return begin()
        case (.timer, _): break
        case (.found(let documents), .finding):
            let part = documents.filter { !kept.contains($0) }.prefix(Self.partSize)
            if part.isEmpty { return end() }
            state = .deleting
            return [.delete(Array(part))]
        case (.tried(let failed), .deleting):
            kept.formUnion(failed)
            return kept.count >= Self.maxKept ? end() : find()
        case (.found, _), (.tried, _): preconditionFailure("no search waits for \(event)")
        }
        return []
    }

    private mutating func begin() -> [Effect] {
        kept = []
        isDueAgain = false
        return find()
    }

    private mutating func find() -> [Effect] {
        state = .finding
        return [.find(most: Self.partSize + kept.count)]
    }

    private mutating func end() -> [Effect] {
        if isDueAgain { return begin() }
        state = .pausing
        timer += 1
        return [.startTimer(timer)]
    }
}
