import TidemarkModel

/// The path of a `match` block, from the service down.
struct PathPattern: Sendable {
    let segments: [PatternSegment]
    /// How many segments `{name=**}` stands for at least: one in version 1, none in version 2.
    let fewest: Int

    /// A segment of a path, or what is known of those that a query's results have.
    enum Part: Sendable {
        case text(String)
        /// One segment, another in each result.
        case anyOne
        /// Any number of segments, none included.
        case anyNumber
    }

    /// What the wildcards stand for, from left to right.
    ///
    /// - Parameter path: Whole, from `databases` on.
    /// - Returns: Nil where the pattern does not fit; for a path of a query, where it does not fit every
    ///   path of that form.
    func captures(of path: [Part]) -> [RulesValue]? {
        var captures: [RulesValue] = []
        return fits(segments[...], path[...], &captures) ? captures : nil
    }

    /// Whether it fits every path that `other` fits.
    func covers(_ other: PathPattern) -> Bool {
        let path = other.segments.map { segment -> Part in
            switch segment {
            case .literal(let text): .text(text)
            case .one: .anyOne
            case .many: .anyNumber
            }
        }
        return captures(of: path) != nil
    }

    /// Whether it fits the path of any document.
    var fitsDocuments: Bool {
        let isOfMany = segments.contains { if case .many = $0 { true } else { false } }
        guard segments.count > 3 else { return isOfMany }
        for (index, name) in [(0, "databases"), (2, "documents")] {
            if case .literal(let text) = segments[index], text != name { return false }
            // What a recursive wildcard before it takes is not known.
            if case .many = segments[index] { return true }
        }
        return isOfMany || segments.count % 2 == 1
    }

    private func fits(
        _ pattern: ArraySlice<PatternSegment>, _ path: ArraySlice<Part>,
        _ captures: inout [RulesValue]
    ) -> Bool {
        guard let first = pattern.first else { return path.isEmpty }
        switch first {
        case .literal(let text):
            guard case .text(let segment)? = path.first, segment.hasSameBytes(as: text) else {
                return false
            }
            return fits(pattern.dropFirst(), path.dropFirst(), &captures)
        case .one:
            switch path.first {
            case .text(let segment)?: captures.append(.string(segment))
            case .anyOne?: captures.append(.known(Knowledge()))
            case .anyNumber?, nil: return false
            }
            if fits(pattern.dropFirst(), path.dropFirst(), &captures) { return true }
            captures.removeLast()
            return false
        case .many:
            return fitsMany(pattern.dropFirst(), path, &captures)
        }
    }

    /// As many segments as leave enough for the rest of the pattern, the most first.
    private func fitsMany(
        _ rest: ArraySlice<PatternSegment>, _ path: ArraySlice<Part>,
        _ captures: inout [RulesValue]
    ) -> Bool {
        var end = path.endIndex
        while end >= path.startIndex {
            let taken = path[path.startIndex..<end]
            if isLongEnough(taken) {
                captures.append(Self.value(of: taken))
                if fits(rest, path[end...], &captures) { return true }
                captures.removeLast()
            }
            end -= 1
        }
        return false
    }

    private func isLongEnough(_ taken: ArraySlice<Part>) -> Bool {
        let sure = taken.count { if case .anyNumber = $0 { false } else { true } }
        return sure >= fewest
    }

    private static func value(of taken: ArraySlice<Part>) -> RulesValue {
        var segments: [String] = []
        for part in taken {
            guard case .text(let segment) = part else { return .known(Knowledge()) }
            segments.append(segment)
        }
        return .path(RulesPath(segments))
    }
}
