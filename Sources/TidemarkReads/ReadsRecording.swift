/// A file made of one or more runs of the same suite.
package struct ReadsRecording: Hashable, Sendable {
    package let file: ReadsFile
    /// The lines whose reads differ between the runs.
    package let varied: [KeptLine]

    /// The begin of a reason that the program wrote. A reason written by hand is kept.
    private static let ownReason = "Varied: "

    /// Makes the file. A line whose reads differ between the runs gets a range with its reason. A
    /// single run proves nothing about a range: it keeps a range of `former` that contains its
    /// reads.
    ///
    /// - Parameters:
    ///   - runs: The lines of each run; at least one run.
    ///   - former: The file that is replaced; nil for none.
    package init(_ runs: [[RunLine]], former: ReadsFile?) {
        precondition(!runs.isEmpty, "a recording needs a run")
        let known = Dictionary(uniqueKeysWithValues: (former?.lines ?? []).map { ($0.key, $0) })
        let byKey = runs.map { Dictionary(uniqueKeysWithValues: $0.map { ($0.key, $0) }) }
        let keys = Set(byKey.flatMap(\.keys))
        var varied: [KeptLine] = []
        let lines = keys.map { key in
            let line = Self.line(key, byKey.map { $0[key] }, former: known[key])
            if runs.count > 1, line.least < line.most { varied.append(line) }
            return line
        }
        file = ReadsFile(lines)
        self.varied = varied.sorted { $0.key < $1.key }
    }

    /// - Parameter seen: The line of each run; nil for a run without it.
    private static func line(
        _ key: ReadKey, _ seen: [RunLine?], former: KeptLine?
    ) -> KeptLine {
        let reads = seen.map { $0?.reads ?? 0 }
        let highest = seen.compactMap { $0 }.max { $0.reads < $1.reads }!
        var line = KeptLine(
            key, least: reads.min()!, most: reads.max()!, calls: highest.calls,
            resumed: highest.resumed, limit: highest.limit)
        if seen.count == 1, let former, former.least < former.most,
            (former.least...former.most).contains(highest.reads)
        {
            (line.least, line.most, line.reason) = (former.least, former.most, former.reason)
        } else if line.least < line.most {
            let isWritten = former?.reason.map { !$0.hasPrefix(ownReason) } ?? false
            line.reason = isWritten ? former?.reason : ownReason + Self.values(reads)
        }
        return line
    }

    /// The maximum number of values in a reason.
    private static let maxValues = 10

    private static func values(_ reads: [Int]) -> String {
        let shown = reads.prefix(maxValues).map { "\($0)" }.joined(separator: ", ")
        return shown + (reads.count > maxValues ? ", …" : "") + " reads in \(reads.count) runs."
    }

    // MARK: For a person

    /// The maximum number of lines that vary that the summary shows.
    private static let maxShown = 20

    /// Returns the result in words.
    ///
    /// - Parameters:
    ///   - name: The file's name.
    ///   - former: The file that was replaced; nil for none.
    package func summary(of name: String, former: ReadsFile?) -> String {
        let count = file.lines.count
        var text = "wrote \(file.most) reads in \(count) line\(count == 1 ? "" : "s") to \(name)"
        if let former { text += ", where \(former.most) reads were recorded" }
        text += "."
        if varied.isEmpty { return text }
        text += " The runs differ in \(varied.count) of the lines, which got a range:"
        for line in varied.prefix(Self.maxShown) {
            text += "\n  \(line.amount) reads  \(line.key.label.oneLine)  "
            text += line.key.summary.oneLine
        }
        let rest = varied.count - Self.maxShown
        return rest > 0 ? text + "\n  and \(rest) more" : text
    }
}

extension ReadsFile {
    /// The most reads that the file allows.
    var most: Int { lines.reduce(0) { $0 + $1.most } }
}
