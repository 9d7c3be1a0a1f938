import TidemarkModel

/// The full path of a `match` block, from the service down.
struct PathPattern: Sendable {
    let segments: [PatternSegment]
    /// The minimum number of segments of `{name=**}`: one in version 1, none in version 2.
    let fewest: Int

    /// A segment of a path, or a placeholder for unknown segments of a query's results.
    enum Part: Sendable {
        case text(String)
        /// One segment, which can differ between results.
        case anyOne
        /// Any number of segments, including none.
        case anyNumber
    }

    /// Returns the values of the wildcards, from left to right.
    ///
    /// - Parameter path: The whole path, starting with `databases`.
    /// - Returns: The values; nil if the pattern does not match. For a query's path, the pattern
    ///   must match every path of that form.
    func captures(of path: [Part]) -> [RulesValue]? {
        var captures: [RulesValue] = []
        return fits(segments[...], path: path[...], captures: &captures) ? captures : nil
    }

    /// Returns true if this pattern matches every path that `other` matches.
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

    /// True if the pattern can match the path of a document.
    var fitsDocuments: Bool {
        let isOfMany = segments.contains { if case .many = $0 { true } else { false } }
        guard segments.count > 3 else { return isOfMany }
        for (index, name) in [(0, "databases"), (2, "documents")] {
            if case .literal(let text) = segments[index], text != name { return false }
            // The number of segments that a recursive wildcard takes is unknown.
            if case .many = segments[index] { return true }
        }
        return isOfMany || segments.count % 2 == 1
    }

    private func fits(
        _ pattern: ArraySlice<PatternSegment>, path: ArraySlice<Part>,
        captures: inout [RulesValue]
    ) -> Bool {
        guard let first = pattern.first else { return path.isEmpty }
        switch first {
        case .literal(let text):
            guard case .text(let segment)? = path.first, segment.hasSameBytes(as: text) else {
                return false
            }
            return fits(pattern.dropFirst(), path: path.dropFirst(), captures: &captures)
        case .one:
            switch path.first {
            case .text(let segment)?: captures.append(.string(segment))
            case .anyOne?: captures.append(.known(Knowledge()))
            case .anyNumber?, nil: return false
            }
            if fits(pattern.dropFirst(), path: path.dropFirst(), captures: &captures) {
                return true
            }
            captures.removeLast()
            return false
        case .many:
            return fitsMany(pattern.dropFirst(), path: path, captures: &captures)
        }
    }

    /// Matches a recursive wildcard. Tries the largest number of segments first, and leaves enough
    /// for the rest of the pattern.
    private func fitsMany(
        _ rest: ArraySlice<PatternSegment>, path: ArraySlice<Part>,
        captures: inout [RulesValue]
    ) -> Bool {
        var end = path.endIndex
        while end >= path.startIndex {
            let taken = path[path.startIndex..<end]
            if isLongEnough(taken) {
                // The value is made only for the number of segments that fits.
                let place = captures.count
                captures.append(.null)
                if fits(rest, path: path[end...], captures: &captures) {
                    captures[place] = Self.value(of: taken)
                    return true
                }
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
