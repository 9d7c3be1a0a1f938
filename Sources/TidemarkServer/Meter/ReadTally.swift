package import TidemarkModel

/// The billed reads by caller, kind of call, collection and shape of the query: the source of
/// `tidemark reads`. A server keeps a tally only on request, because it costs time with each call.
package struct ReadTally: Sendable {
    /// The maximum number of lines. Further lines are counted together, by their kind of call.
    static let maxLines = 20_000
    /// The maximum number of bytes of a name or an example; a longer one is cut.
    static let maxNameBytes = 2_000

    package struct Line: Hashable, Sendable {
        package let label: String
        package let call: RPCMethod
        package let target: String
        package let query: String
        package var reads = 0
        /// The units of the same calls; zero in a database of the Standard edition.
        package var units = BilledUnits()
        /// The number of calls; of a listener, the number of its starts.
        package var calls = 0
        /// The number of a listener's starts that resumed with a token.
        package var resumed = 0
        /// The highest limit; nil if a query had none.
        package var limit: Int?
        /// The call with the most reads, in words.
        package var example = ""
        package var exampleReads = 0
        /// The indexes of production that serve the example, or that it would need.
        package var indexes: [String] = []
    }

    /// The functions that the tally needs to describe a call.
    package struct Words: Sendable {
        /// Returns a subject in one line, with its values.
        package var sentence: @Sendable (ReadSubject.Asked) -> String

        package init(sentence: @escaping @Sendable (ReadSubject.Asked) -> String) {
            self.sentence = sentence
        }
    }

    private struct Key: Hashable {
        let label, target, query: ByteString
        let call: RPCMethod
    }

    private let words: Words
    private var byKey: [Key: Line] = [:]

    package init(_ words: Words) { self.words = words }

    /// The lines in no particular order.
    package var lines: [Line] { Array(byKey.values) }

    /// Adds the reads of a call, or of a part of it.
    ///
    /// - Parameters:
    ///   - label: The caller.
    ///   - indexes: Returns the indexes of a query. Called for the calls that become an example.
    mutating func add(
        _ usage: Usage, of subject: ReadSubject, by call: RPCMethod, label: String,
        indexes: (Query, [Aggregation]) -> [String]
    ) {
        let reads = usage.reads
        // Security rules that read nothing, and a commit without a check, are no calls.
        if reads == 0, case .place = subject.asked { return }
        var key = Key(
            label: ByteString(label.bounded), target: ByteString(subject.asked.target.bounded),
            query: ByteString(subject.asked.shape.bounded), call: call)
        if byKey.count >= Self.maxLines, byKey[key] == nil {
            key = Key(
                label: ByteString(UsageMeter.otherLabels), target: ByteString("other targets"),
                query: ByteString(""), call: call)
        }
        var line =
            byKey[key]
            ?? Line(
                label: key.label.text, call: call, target: key.target.text, query: key.query.text)
        let limit = subject.asked.limit
        let isFirst = line.calls == 0 && line.reads == 0
        line.limit = isFirst ? limit : line.limit.flatMap { known in limit.map { max(known, $0) } }
        line.reads += reads
        line.units += usage.units
        if subject.part != .more { line.calls += 1 }
        if subject.part == .resume { line.resumed += 1 }
        if isFirst || reads > line.exampleReads {
            line.exampleReads = reads
            line.example = words.sentence(subject.asked).bounded
            if case .query(let query, let aggregations) = subject.asked {
                line.indexes = indexes(query, aggregations)
            }
        }
        byKey[key] = line
    }
}

extension String {
    fileprivate var bounded: String {
        guard utf8.count > ReadTally.maxNameBytes else { return self }
        return String(decoding: utf8.prefix(ReadTally.maxNameBytes), as: UTF8.self) + "…"
    }
}

extension CallContext {
    /// The caller for the tally of reads: its label, or the name of its client library.
    var tallyLabel: String {
        if let label, !label.isEmpty { return label }
        return agent.flatMap(Self.clientName).map { "client \($0)" } ?? UsageMeter.unlabelled
    }

    /// Returns the language of Google's client, as in `gl-python/3.11 grpc/1.74`, or else the name
    /// of the first product.
    private static func clientName(_ agent: String) -> String? {
        let products = agent.split(separator: " ")
        let mark = "gl-"
        let own = products.first { $0.hasPrefix(mark) }?.dropFirst(mark.count) ?? products.first
        return own?.split(separator: "/", omittingEmptySubsequences: false).first.map(String.init)
            .flatMap { $0.isEmpty ? nil : $0 }
    }
}
