/// Says why a line grew, and what makes it cheaper.
enum ReadAdvice {
    /// The number of reads from which a query without a limit is conspicuous.
    private static let manyReads = 100

    /// Returns at most three sentences or pairs of sentences, the most probable cause first.
    ///
    /// - Parameter difference: A line that grew.
    static func advice(on difference: ReadsComparison.Difference) -> [String] {
        guard let seen = difference.seen else { return [] }
        let kept = difference.kept
        if seen.key.target == "(rules)" {
            return [
                """
                Security rules read these documents with get() or exists(). Put the fact into the \
                caller's token, or into the document itself.
                """
            ]
        }
        var advice = limit(kept, seen) + units(difference)
        switch seen.key.call {
        case "Listen": advice += listener(kept, seen)
        case "GetDocument", "BatchGetDocuments": advice += lookups(kept, seen)
        case "RunAggregationQuery": advice += aggregation(kept, seen)
        default: advice += repeated(kept, seen)
        }
        if advice.isEmpty { advice.append(general(kept, seen)) }
        return Array(advice.prefix(3))
    }

    private static func limit(_ kept: KeptLine?, _ seen: RunLine) -> [String] {
        switch (kept?.limit, seen.limit) {
        case (let before?, nil):
            return [
                """
                The query had a limit of \(before), and now has none. Add the limit again, and \
                read older documents in pages.
                """
            ]
        case (let before?, let now?) where now > before:
            return ["The query's limit rose from \(before) to \(now)."]
        case (nil, nil) where kept == nil && isQuery(seen) && seen.reads >= manyReads:
            return [
                """
                The query has no limit, so it costs more as the collection grows. Add a limit, or \
                use a feed, which reads only what changed. If only the number is needed, use \
                count().
                """
            ]
        default: return []
        }
    }

    /// Advice on units that grew without reads: the same documents cost more.
    private static func units(_ difference: ReadsComparison.Difference) -> [String] {
        var advice: [String] = []
        if difference.change(of: .readUnits) > 0, difference.change <= 0 {
            advice.append(
                """
                The call reads no more documents, but more units of 4 KiB: a document has grown \
                past 4 KiB, or no index serves the query, so that it scans its collection. \
                Declare the index that is named above, and keep large fields in documents of \
                their own.
                """)
        }
        if difference.change(of: .updateUnits) > 0 {
            advice.append(
                """
                A listener receives more real-time update units: one for each 4 KiB of a changed \
                document. A read unit costs a sixth, so read seldom shown data when it is shown, \
                and keep what changes often in small documents.
                """)
        }
        return advice
    }

    private static func isQuery(_ seen: RunLine) -> Bool {
        seen.key.call == "RunQuery" || seen.key.call == "Listen"
    }

    private static func listener(_ kept: KeptLine?, _ seen: RunLine) -> [String] {
        var advice: [String] = []
        if let kept, seen.resumed < kept.resumed, seen.fresh > kept.fresh {
            advice.append(
                """
                The listener resumed \(times(kept.resumed)) before, and now \(times(seen.resumed)). \
                Keep the cache or the client, so that a restart sends its resume token and pays \
                only for changes.
                """)
        }
        if seen.calls > max(1, kept?.calls ?? 1) {
            advice.append(
                """
                The listener starts \(times(seen.calls))\(before(kept)). Start it once, share it \
                between the screens that show it, and stop it when the last of them closes.
                """)
        }
        return advice
    }

    private static func lookups(_ kept: KeptLine?, _ seen: RunLine) -> [String] {
        guard seen.calls > max(1, kept?.calls ?? 1) else { return [] }
        return [
            """
            \(seen.calls) calls read documents one after the other\(before(kept)). Read them \
            together, with one batch or one query, or copy the shown fields into the document \
            that names them.
            """
        ]
    }

    private static func aggregation(_ kept: KeptLine?, _ seen: RunLine) -> [String] {
        repeated(kept, seen) + [
            """
            An aggregation costs a read for each 1,000 index entries. Keep a figure that is often \
            shown in a document, and change it with increment.
            """
        ]
    }

    private static func repeated(_ kept: KeptLine?, _ seen: RunLine) -> [String] {
        guard seen.calls > max(1, kept?.calls ?? 1) else { return [] }
        return [
            """
            The call runs \(times(seen.calls))\(before(kept)). Run it once and keep the result, \
            listen to it, or ask for all values at once with the operator in.
            """
        ]
    }

    private static func general(_ kept: KeptLine?, _ seen: RunLine) -> String {
        kept == nil
            ? "The file does not have this line. If the reads are wanted, record them."
            : """
            The calls are the same, and return more. If the suite's data grew, record the reads \
            again.
            """
    }

    private static func before(_ kept: KeptLine?) -> String {
        kept.map { ", before \($0.calls)" } ?? ""
    }

    private static func times(_ count: Int) -> String {
        count == 0 ? "never" : count == 1 ? "once" : "\(count) times"
    }
}
