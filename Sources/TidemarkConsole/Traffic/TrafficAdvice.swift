/// Advice about conspicuous calls.
struct TrafficAdvice: Hashable, Sendable, Codable {
    /// The entry that shows the problem best.
    let entry: Int
    let what: String
    let remedy: String

    /// The number of documents from which a listener without a limit is conspicuous.
    static let manyDocuments = 1_000
    /// The number of similar calls within ``window`` that form a storm.
    static let manyCalls = 20
    /// The window, in microseconds.
    static let window: Int64 = 10_000_000
    /// The maximum number of pieces of advice.
    static let maxAdvice = 5

    /// - Parameter entries: The entries, newest first.
    static func advice(on entries: [TrafficEntry]) -> [TrafficAdvice] {
        let large = entries.compactMap { onListener($0) }
        return Array((large + storms(entries)).prefix(maxAdvice))
    }

    /// Returns advice about a listener that received many documents, if its query does not limit
    /// them.
    static func onListener(_ entry: TrafficEntry) -> TrafficAdvice? {
        guard entry.method == "Listen",
            let target = entry.targets.max(by: { $0.documents < $1.documents }),
            target.documents >= manyDocuments, !target.asked.contains(" limit ")
        else { return nil }
        return TrafficAdvice(
            entry: entry.id,
            what: "A listener on \(target.asked) received \(target.documents.grouped) documents.",
            remedy: """
                Each document is a billed read, and all are billed again when the listener \
                starts without a cache. Add a limit and read older documents in pages, or use a \
                feed.
                """)
    }

    /// The length of a chain of events that seem to have caused each other from which a function is
    /// conspicuous.
    static let longChain = 10

    /// Returns advice about functions that seem to trigger themselves.
    ///
    /// - Parameters:
    ///   - chains: The keys of functions, with the lengths of their longest chains.
    ///   - entries: The entries, newest first.
    static func loops(_ chains: [(key: String, length: Int)], _ entries: [TrafficEntry])
        -> [TrafficAdvice]
    {
        chains.filter { $0.length >= longChain }.compactMap { chain in
            let client = "function \(chain.key)"
            guard
                let newest = entries.first(where: { $0.links.event != nil && $0.client == client })
            else { return nil }
            return TrafficAdvice(
                entry: newest.id,
                what: """
                    The function \(chain.key) seems to trigger itself: \(chain.length.grouped) \
                    events in a chain.
                    """,
                remedy: """
                    In production such a loop is billed until somebody stops it. Let the function \
                    return if nothing has to change, or write to another collection.
                    """)
        }
    }

    /// The kind of a call: the calls of a caller for the same thing, or for documents of a
    /// collection.
    struct Kind: Hashable {
        let method: String
        let caller: String
        let asked: String

        init(_ entry: TrafficEntry) {
            method = entry.method
            caller = entry.caller
            asked =
                TrafficAdvice.isLookup(method)
                ? TrafficAdvice.collection(of: entry.asked) : entry.asked
        }
    }

    /// Returns the ids of the entries that belong to a storm.
    static func stormy(_ entries: [TrafficEntry]) -> Set<Int> {
        let kinds = counts(entries).filter { $0.value.count >= manyCalls }
        return Set(entries.filter { kinds[Kind($0)] != nil }.map(\.id))
    }

    private static func isLookup(_ method: String) -> Bool {
        method == "BatchGetDocuments" || method == "GetDocument"
    }

    /// Returns advice about repeated calls, or about reads of single documents one after the other.
    private static func storms(_ entries: [TrafficEntry]) -> [TrafficAdvice] {
        counts(entries).filter { $0.value.count >= manyCalls }
            .sorted { ($1.value.count, $0.value.newest) < ($0.value.count, $1.value.newest) }
            .map { kind, seen in advice(on: kind, seen.count, seen.newest) }
    }

    private static func counts(_ entries: [TrafficEntry]) -> [Kind: (count: Int, newest: Int)] {
        var counts: [Kind: (count: Int, newest: Int)] = [:]
        guard let newest = entries.first?.began else { return counts }
        for entry in entries where newest - entry.began <= window {
            let kind = Kind(entry)
            let known = counts[kind] ?? (0, entry.id)
            counts[kind] = (known.count + 1, max(known.newest, entry.id))
        }
        return counts
    }

    private static func advice(on kind: Kind, _ count: Int, _ entry: Int) -> TrafficAdvice {
        let isLookup = isLookup(kind.method)
        let what =
            isLookup
            ? "\(count) lookups in \(kind.asked) within ten seconds."
            : "\(kind.method) of \(kind.asked) \(count) times within ten seconds."
        let remedy =
            isLookup
            ? "Read these documents together, with one query or one batch."
            : "The same request is repeated. Use a listener, or keep the result."
        return TrafficAdvice(entry: entry, what: what, remedy: remedy)
    }

    private static func collection(of path: String) -> String {
        let parts = (path.split(separator: " ").first ?? "").split(separator: "/")
        return parts.dropLast().joined(separator: "/")
    }
}
