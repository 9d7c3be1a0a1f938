extension Pattern {
    /// The number of capturing groups.
    public var groupCount: Int { program.groups }

    /// Searches the text for a match.
    ///
    /// - Parameter steps: The number of remaining steps. The call decreases it.
    /// - Returns: True if a part of the text matches; nil if the steps did not suffice.
    public func contained(in text: String, steps: inout Int) -> Bool? {
        var found = false
        let isDone = forEachMatch(in: Array(text.unicodeScalars), most: 1, steps: &steps) { _, _ in
            found = true
        }
        return isDone ? found : nil
    }

    /// Returns the matches from left to right, none of which overlap; of a pattern with a group,
    /// the first group of each match.
    ///
    /// A match in which the group takes no part gives an empty text.
    ///
    /// - Parameters:
    ///   - most: The maximum number of matches.
    ///   - steps: The number of remaining steps. The call decreases it.
    /// - Returns: The matches; nil if the steps did not suffice.
    public func matches(in text: String, most: Int, steps: inout Int) -> [String]? {
        let scalars = Array(text.unicodeScalars)
        let slot = groupCount > 0 ? 2 : 0
        var found: [String] = []
        let isDone = forEachMatch(in: scalars, most: most, steps: &steps) { groups, steps in
            var part = String.UnicodeScalarView()
            if groups[slot] >= 0 {
                part.append(contentsOf: scalars[groups[slot]..<groups[slot + 1]])
            }
            steps -= part.count
            found.append(String(part))
        }
        return isDone ? found : nil
    }
}
