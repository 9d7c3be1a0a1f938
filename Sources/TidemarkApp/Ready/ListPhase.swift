public import Tidemark

/// Where a list stands with the server, for a view that draws a skeleton, rows, or a sentence.
public enum ListPhase: Hashable, Sendable {
    /// Nothing was read yet, from disk or server.
    case loading
    /// Complete, and there is nothing in it.
    case empty
    /// What the device holds; `age` is the time since it was last known to be complete, nil when it
    /// never was.
    case stale(age: Duration?)
    /// Complete.
    case fresh
    /// The last read failed; what the device holds is shown.
    case failed(FirestoreError)

    init(_ phase: FeedPhase, isEmpty: Bool) {
        self =
            switch phase {
            case .loading: .loading
            case .stale(let age): .stale(age: age)
            case .fresh: isEmpty ? .empty : .fresh
            case .failed(let error): .failed(error)
            }
    }
}
