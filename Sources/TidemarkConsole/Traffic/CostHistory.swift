/// The bill over time: the last hour in slices of ten seconds, by client, label and collection.
///
/// A value type that takes reads with their times, and returns the sums.
struct CostHistory: Sendable {
    /// The length of a slice, in microseconds.
    static let slice: Int64 = 10_000_000
    /// The number of kept slices: an hour.
    static let capacity = 360
    /// The maximum number of distinct callers and collections in a slice; the rest is counted
    /// together.
    static let maxKeys = 200
    /// The maximum number of bytes of a slice's names; the rest is counted together.
    static let maxNameBytes = 32_768

    struct Key: Hashable, Sendable {
        var label: String?
        var client: String?
        var collection: String

        static let others = Key(label: "others", client: "others", collection: "others")

        var bytes: Int {
            (label?.utf8.count ?? 0) + (client?.utf8.count ?? 0) + collection.utf8.count
        }
    }

    struct Slice: Hashable, Sendable {
        /// The number of the slice since 1970.
        let number: Int64
        fileprivate(set) var reads: [Key: Int] = [:]
        /// The bytes of the names in ``reads``.
        fileprivate(set) var nameBytes = 0
    }

    /// The slices, oldest first.
    private(set) var slices: [Slice] = []

    mutating func add(_ reads: Int, _ key: Key, at time: Int64) {
        if reads <= 0 { return }
        let number = time / Self.slice
        if slices.last.map({ $0.number < number }) ?? true {
            slices.append(Slice(number: number))
            let oldest = number - Int64(Self.capacity)
            slices.removeAll { $0.number <= oldest }
        }
        let last = slices.count - 1
        if let known = slices[last].reads[key] {
            slices[last].reads[key] = known + reads
            return
        }
        let isFull =
            slices[last].reads.count >= Self.maxKeys
            || slices[last].nameBytes + key.bytes > Self.maxNameBytes
        if !isFull { slices[last].nameBytes += key.bytes }
        slices[last].reads[isFull ? .others : key, default: 0] += reads
    }

    mutating func clear() { slices = [] }
}

/// The history as lines of a chart: the most expensive names, and the rest together.
struct CostChart: Hashable, Sendable, Encodable {
    enum Dimension: String, CaseIterable, Sendable { case target, client, label }

    struct Series: Hashable, Sendable, Encodable {
        let name: String
        /// The reads, one number for each point of time.
        let reads: [Int]
        var total: Int { reads.reduce(0, +) }
    }

    /// The time of the first point, in microseconds since 1970.
    let start: Int64
    /// The seconds between two points.
    let step: Int
    let series: [Series]

    static let maxSeries = 6

    init(_ history: CostHistory, by dimension: Dimension) {
        step = Int(CostHistory.slice / 1_000_000)
        guard let first = history.slices.first?.number, let last = history.slices.last?.number
        else {
            (start, series) = (0, [])
            return
        }
        start = first * CostHistory.slice
        let count = Int(last - first) + 1
        var sums: [String: [Int]] = [:]
        for slice in history.slices {
            for (key, reads) in slice.reads {
                let name = Self.name(key, dimension)
                sums[name, default: Array(repeating: 0, count: count)][Int(slice.number - first)] +=
                    reads
            }
        }
        let all = sums.map { Series(name: $0.key, reads: $0.value) }
            .sorted { ($1.total, $0.name) < ($0.total, $1.name) }
        var shown = Array(all.prefix(Self.maxSeries))
        if all.count > Self.maxSeries {
            var rest = Array(repeating: 0, count: count)
            for series in all.dropFirst(Self.maxSeries) {
                for index in rest.indices { rest[index] += series.reads[index] }
            }
            shown.append(Series(name: "others", reads: rest))
        }
        series = shown
    }

    private static func name(_ key: CostHistory.Key, _ dimension: Dimension) -> String {
        switch dimension {
        case .target: key.collection
        case .client: key.client ?? "unnamed"
        case .label: key.label ?? "unlabelled"
        }
    }

    // MARK: Drawing

    private static let (width, height) = (720.0, 180.0)

    /// Stacked bars, one per slice; the table below the chart has the same figures.
    @HTMLBuilder var html: HTML {
        if !series.isEmpty {
            Tag.figure {
                Tag.svg(
                    .role("img"), .drawing(.viewBox, "0 0 \(Int(Self.width)) \(Int(Self.height))"),
                    .label("Reads over time: \(series.map(\.summary).joined(separator: "; "))")
                ) { bars }
                Tag.figcaption {
                    for (index, line) in series.enumerated() {
                        Tag.span(.class("key c\(index)")) {
                            Tag.bdi { line.name }
                            HTML(" \(line.total.grouped)")
                        }
                    }
                    Tag.small { "Reads per \(step) seconds, for at most the last hour." }
                }
            }
        }
    }

    private var bars: HTML {
        let count = series[0].reads.count
        let most = (0..<count).map { index in series.reduce(0) { $0 + $1.reads[index] } }.max() ?? 1
        let step = Self.width / Double(max(count, 30))
        var parts: [HTML] = []
        for index in 0..<count {
            var top = Self.height
            for (number, line) in series.enumerated() where line.reads[index] > 0 {
                let length = Self.height * Double(line.reads[index]) / Double(max(most, 1))
                top -= length
                parts.append(
                    Tag.rect(
                        .class("c\(number)"), .drawing(.x, Self.text(Double(index) * step)),
                        .drawing(.y, Self.text(top)), .drawing(.width, Self.text(step * 0.9)),
                        .drawing(.height, Self.text(length))))
            }
        }
        return HTML(parts)
    }

    private static func text(_ length: Double) -> String { "\((length * 10).rounded() / 10)" }
}

extension CostChart.Series {
    fileprivate var summary: String { "\(name) \(total)" }
}
