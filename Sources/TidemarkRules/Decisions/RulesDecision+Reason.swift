extension RulesDecision {
    /// The maximum number of sentences of a reason about single `allow`s.
    private static let mostSentences = 20
    /// The maximum number of bytes of a reason: it is sent to the caller as a header.
    private static let mostReasonBytes = 4_000

    /// Returns the reason for a refusal: a sentence for each `allow` that was tried, the first 20
    /// of them, in at most 4,000 bytes. Empty if the request is allowed.
    ///
    /// - Parameter trace: The trace of the same decision. With a trace, the text names the deciding
    ///   values.
    public func reason(in source: SourceText, trace: RulesTrace? = nil) -> String {
        if isAllowed { return "" }
        if verdicts.isEmpty {
            return "No rule allows '\(method.rawValue)' at this path."
        }
        var sentences = verdicts.prefix(Self.mostSentences).map { sentence(of: $0) }
        let more = verdicts.count - sentences.count
        if more > 0 { sentences.append("\(more) more did not allow it.") }
        if let decider = trace?.decider(in: source) { sentences.append(decider) }
        let reason = sentences.joined(separator: " ")
        guard reason.utf8.count > Self.mostReasonBytes else { return reason }
        return String(decoding: reason.utf8.prefix(Self.mostReasonBytes), as: UTF8.self) + "…"
    }

    private func sentence(of verdict: Verdict) -> String {
        let place = "'\(method.rawValue)' at L\(verdict.position.line)"
        switch verdict.outcome {
        case .allowed: return "Allowed: \(place)."
        case .denied: return "False for \(place): \(verdict.expression)."
        case .failed(let cause, let position):
            return "Error for \(place), at L\(position): \(cause.message)" + lacks(verdict)
        case .undecided:
            return
                "Not true for every result of the query, \(place): \(verdict.expression)."
                + lacks(verdict)
        }
    }

    /// Returns a sentence with the conditions that would make the query allowed.
    private func lacks(_ verdict: Verdict) -> String {
        if verdict.lacking.isEmpty { return "" }
        return " Add " + verdict.lacking.map(\.swift).joined(separator: " or ") + "."
    }

    /// The text of production for each error: `Error: firestore.rules line [5], column [22]. …`.
    public var productionNotes: [String] {
        var notes: [String] = []
        var known: Set<String> = []
        for verdict in verdicts {
            guard case .failed(let cause, let position) = verdict.outcome else { continue }
            let place = "line [\(position.line)], column [\(position.column)]"
            let note = "Error: firestore.rules \(place). \(cause.message)"
            if known.insert(note).inserted { notes.append(note) }
        }
        return notes
    }
}

extension RulesTrace {
    /// Returns the innermost expression that made the last condition false, with the values of its
    /// parts.
    func decider(in source: SourceText) -> String? {
        guard var index = entries.indices.last, entries[index].isFalse else { return nil }
        // Parts are recorded before the whole, so the deciding part directly precedes the whole.
        while index > 0, entries[index - 1].isFalse { index -= 1 }
        let decider = entries[index]
        let parts = entries[..<index].reversed().prefix { decider.range.contains($0.range) }
        let values = parts.filter { part in
            !parts.contains { $0.range != part.range && $0.range.contains(part.range) }
        }.reversed().compactMap { part -> String? in
            let text = source.excerpt(part.range)
            let value = part.outcome.shown
            return text == value ? nil : "\(text) is \(value)"
        }
        if values.isEmpty { return nil }
        let position = source.position(at: decider.range.lowerBound)
        return "At L\(position): " + values.joined(separator: ", ") + "."
    }
}

extension RulesTrace.Entry {
    fileprivate var isFalse: Bool {
        if case .success(.boolean(false)) = outcome { true } else { false }
    }
}
