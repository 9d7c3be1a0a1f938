package import TidemarkModel

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
    ///   - edition: The edition of the suite's databases.
    ///   - former: The file that is replaced; nil for none.
    package init(
        _ runs: [[RunLine]], of edition: DatabaseEdition = .standard, former: ReadsFile?
    ) {
        precondition(!runs.isEmpty, "a recording needs a run")
        // The units of one edition say nothing about the other.
        let former = former?.edition == edition ? former : nil
        let known = Dictionary(uniqueKeysWithValues: (former?.lines ?? []).map { ($0.key, $0) })
        let byKey = runs.map { Dictionary(uniqueKeysWithValues: $0.map { ($0.key, $0) }) }
        let keys = Set(byKey.flatMap(\.keys))
        var varied: [KeptLine] = []
        let lines = keys.map { key in
            let line = Self.line(key, byKey.map { $0[key] }, of: edition, former: known[key])
            if runs.count > 1, line.varies { varied.append(line) }
            return line
        }
        file = ReadsFile(lines, edition: edition)
        self.varied = varied.sorted { $0.key < $1.key }
    }

    /// - Parameter seen: The line of each run; nil for a run without it.
    private static func line(
        _ key: ReadKey, _ seen: [RunLine?], of edition: DatabaseEdition, former: KeptLine?
    ) -> KeptLine {
        let highest = seen.compactMap { $0 }.max { $0.reads < $1.reads }!
        var line = KeptLine(
            key, least: 0, most: 0, calls: highest.calls, resumed: highest.resumed,
            limit: highest.limit)
        var (isKept, reason) = (false, [String]())
        for measure in ReadMeasure.all(of: edition) {
            let values = seen.map { $0.map(measure.of) ?? 0 }
            var range = values.min()!...values.max()!
            if let kept = former.map(measure.range), seen.count == 1, kept.contains(values[0]),
                kept.lowerBound < kept.upperBound
            {
                (range, isKept) = (kept, true)
            } else if range.lowerBound < range.upperBound {
                reason.append(Self.values(values, of: measure))
            }
            line.set(measure, range)
        }
        let isWritten = former?.reason.map { !$0.hasPrefix(ownReason) } ?? false
        if isKept || (isWritten && !reason.isEmpty) {
            line.reason = former?.reason
        } else if !reason.isEmpty {
            line.reason = ownReason + reason.joined(separator: "; ") + " in \(seen.count) runs."
        }
        return line
    }

    /// The maximum number of values in a reason.
    private static let maxValues = 10

    private static func values(_ values: [Int], of measure: ReadMeasure) -> String {
        let shown = values.prefix(maxValues).map { "\($0)" }.joined(separator: ", ")
        return shown + (values.count > maxValues ? ", …" : "") + " \(measure.word)s"
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
        var text = "wrote \(file.amounts) in \(count) line\(count == 1 ? "" : "s") to \(name)"
        if file.edition.isBilledByUnits { text += " for the Enterprise edition" }
        if let former { text += ", where \(former.amounts) were recorded" }
        text += "."
        if varied.isEmpty { return text }
        text += " The runs differ in \(varied.count) of the lines, which got a range:"
        for line in varied.prefix(Self.maxShown) {
            let amounts = ReadMeasure.all(of: file.edition).map {
                "\($0.range(of: line).amount) \($0.word)s"
            }
            text += "\n  \(amounts.joined(separator: ", "))  \(line.key.label.oneLine)  "
            text += line.key.summary.oneLine
        }
        let rest = varied.count - Self.maxShown
        return rest > 0 ? text + "\n  and \(rest) more" : text
    }
}

extension ReadsFile {
    /// The most reads that the file allows.
    var most: Int { lines.reduce(0) { $0 + $1.most } }

    /// The most that the file allows, in words.
    fileprivate var amounts: String {
        ReadMeasure.all(of: edition).map { measure in
            let most = lines.reduce(0) { $0 + measure.range(of: $1).upperBound }
            return "\(most) \(measure.word)s"
        }.joined(separator: ", ")
    }
}
