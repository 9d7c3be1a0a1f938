import Tidemark
import TidemarkPipelines

/// The newest state of the listeners of one pipeline, as far as it concerns all rows.
struct LiveSources {
    private struct State {
        var freshness: Freshness
        var hasPendingWrites: Bool
        var readTime: Timestamp?
    }

    private var states: [State?]
    private let options: SnapshotListenOptions

    init(count: Int, _ options: SnapshotListenOptions) {
        states = Array(repeating: nil, count: count)
        self.options = options
    }

    mutating func take(_ view: ViewSnapshot, of source: Int, now: Timestamp) {
        states[source] = State(
            freshness: Freshness(view, options, now: now),
            hasPendingWrites: view.hasPendingWrites, readTime: view.readTime)
    }

    /// True if every listener has received a snapshot.
    var areKnown: Bool { states.allSatisfy { $0 != nil } }
    var havePendingWrites: Bool { states.contains { $0?.hasPendingWrites == true } }

    /// The oldest time as of which a source is complete; nil if one never was.
    var readTime: Timestamp? {
        let known = states.compactMap { $0 }
        let times = known.compactMap(\.readTime)
        return times.count == known.count ? times.min() : nil
    }

    /// Fresh if all sources are, as of the oldest of their times.
    func freshness(now: Timestamp) -> Freshness {
        let known = states.compactMap { $0 }
        let oldest = readTime
        for case .stale(_, let reason) in known.map(\.freshness) {
            return .stale(
                age: oldest.map { max(.zero, now.duration(since: $0)) }, reason: reason)
        }
        return .fresh(readTime: oldest ?? now)
    }
}

extension ViewSnapshot {
    /// The changes in the form of a live pipeline.
    var pipelineChanges: [LivePipeline.Change] {
        changes.compactMap { change in
            #if TIDEMARK_DEFECTS
                if LiveDefect.planted == .pendingWritesIgnored, change.document.hasLocalMutations {
                    return nil
                }
            #endif
            return change.kind == .removed
                ? .remove(change.document.path) : .set(change.document.withEstimatedTimes)
        }
    }
}
