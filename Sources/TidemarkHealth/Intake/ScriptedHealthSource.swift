public import Foundation
import Synchronization

/// A source for tests. It returns its recorded samples as HealthKit does.
public final class ScriptedHealthSource: HealthSampleSource {
    private enum Entry {
        case recorded(HealthSample)
        case deleted(UUID, HealthKind)

        var kind: HealthKind {
            switch self {
            case .recorded(let sample): sample.kind
            case .deleted(_, let kind): kind
            }
        }
    }

    private struct State {
        /// The recorded and deleted samples, in the order of the calls.
        var log: [Entry] = []
        var failures: [HealthSourceError] = []
        var pages = 0
        var listeners: [Int: Listener] = [:]
        var lastListener = 0
        var announced = 0
        var stored = 0
    }

    private struct Listener {
        weak var updates: HealthUpdates?
    }

    private let state = Mutex(State())

    public init() {}

    /// The number of announcements to listeners, and of those whose samples the listener has
    /// reported as stored. An app that the system woke must report all.
    public var announcements: (made: Int, stored: Int) {
        state.withLock { ($0.announced, $0.stored) }
    }

    /// The number of requests for a page.
    public var pages: Int { state.withLock { $0.pages } }

    /// Records samples, and notifies the listeners.
    public func record(_ samples: [HealthSample]) {
        append(samples.map { Entry.recorded($0) })
    }

    /// Deletes samples, recorded or not, and notifies the listeners.
    ///
    /// - Parameters:
    ///   - ids: The ids of the samples.
    ///   - kind: The kind of the samples.
    public func delete(_ ids: [UUID], of kind: HealthKind) {
        append(ids.map { Entry.deleted($0, kind) })
    }

    /// The next calls fail, one after the other.
    public func fail(_ failures: HealthSourceError...) {
        state.withLock { $0.failures += failures }
    }

    private func append(_ entries: [Entry]) {
        let kinds = Set(entries.map(\.kind))
        let listeners = state.withLock { state in
            state.log += entries
            let listeners = state.listeners.values.compactMap(\.updates)
            state.announced += kinds.count * listeners.count
            return listeners
        }
        for kind in kinds {
            for listener in listeners {
                listener.add(kind) { [weak self] in self?.state.withLock { $0.stored += 1 } }
            }
        }
    }

    /// Returns a page, whose anchor is the number of entries that were read.
    public func page(
        _ kind: HealthKind, after anchor: HealthAnchor?, limit: Int
    ) async throws(HealthSourceError) -> HealthSamplePage {
        let start = anchor.flatMap { Int(String(decoding: $0.data, as: UTF8.self)) } ?? 0
        try failIfTold()
        return state.withLock { state in
            state.pages += 1
            var place = start
            var samples: [HealthSample] = []
            var deleted: Set<UUID> = []
            while place < state.log.count, samples.count + deleted.count < limit {
                switch state.log[place] {
                case .recorded(let sample) where sample.kind == kind: samples.append(sample)
                case .deleted(let id, kind): deleted.insert(id)
                default: break
                }
                place += 1
            }
            return HealthSamplePage(
                samples, deleted: deleted, anchor: HealthAnchor(Data("\(place)".utf8)),
                isLast: place == state.log.count)
        }
    }

    public func samples(
        _ kind: HealthKind, in range: Range<Date>, limit: Int
    ) async throws(HealthSourceError) -> [HealthSample] {
        try failIfTold()
        let found = state.withLock { state in
            var living: [UUID: HealthSample] = [:]
            for entry in state.log {
                switch entry {
                case .recorded(let sample):
                    if sample.kind == kind, range.contains(sample.start) {
                        living[sample.id] = sample
                    }
                case .deleted(let id, _): living[id] = nil
                }
            }
            return Array(living.values)
        }
        return Array(found.sorted { $0.start > $1.start }.prefix(limit))
    }

    public func updates() -> AsyncStream<HealthUpdate> {
        let updates = HealthUpdates()
        let number = state.withLock { state in
            state.lastListener += 1
            state.listeners[state.lastListener] = Listener(updates: updates)
            return state.lastListener
        }
        updates.whenReleased { [weak self] in
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: number) }
        }
        return updates.stream
    }

    private func failIfTold() throws(HealthSourceError) {
        let failure = state.withLock { $0.failures.isEmpty ? nil : $0.failures.removeFirst() }
        if let failure { throw failure }
    }
}
