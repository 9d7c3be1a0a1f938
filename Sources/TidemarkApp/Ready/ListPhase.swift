public import Tidemark

/// The relation between a list and the server's, for a view that draws a skeleton, rows, or a
/// sentence.
public enum ListPhase: Hashable, Sendable {
    /// The list has read neither the disk nor the server yet.
    case loading
    /// The list is complete and empty.
    case empty
    /// The list shows the device's data; `age` is the time since they were last known to be
    /// complete, nil if they never were.
    case stale(age: Duration?)
    /// The list is complete.
    case fresh
    /// The last read failed; the list shows the device's data.
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
