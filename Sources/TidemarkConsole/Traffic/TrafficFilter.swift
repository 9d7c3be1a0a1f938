/// Selects the entries on the traffic page. A nil or empty part accepts every entry.
struct TrafficFilter: Hashable, Sendable, Encodable {
    enum Show: String, Hashable, Sendable, CaseIterable, Encodable {
        case all, open, failed, writes, listens, functions
    }

    /// The maximum length of the text, in bytes of UTF-8. A longer text is refused before the
    /// search.
    static let maxBytes = 200

    /// The text to find in the label, the client, the method or the request. Upper and lower case
    /// are equal.
    let text: String?
    let show: Show
    /// The minimum number of reads of an entry.
    let reads: Int
    private let pattern: FoldedText?

    /// - Precondition: `text` has at most ``maxBytes``.
    init(text: String? = nil, show: Show = .all, reads: Int = 0) {
        precondition((text?.utf8.count ?? 0) <= Self.maxBytes)
        self.text = text
        self.show = show
        self.reads = reads
        pattern = text.flatMap { $0.isEmpty ? nil : FoldedText($0) }
    }

    private enum CodingKeys: String, CodingKey { case text, show, reads }

    func passes(_ entry: TrafficEntry) -> Bool {
        if entry.reads < reads { return false }
        switch show {
        case .all: break
        case .open: if entry.outcome != nil { return false }
        case .failed: if entry.outcome == nil || entry.outcome == "OK" { return false }
        case .writes: if entry.writes + entry.deletes == 0 { return false }
        case .listens: if entry.method != "Listen" { return false }
        case .functions: if entry.links.event == nil, entry.links.cause == nil { return false }
        }
        guard let pattern else { return true }
        return [entry.asked, entry.method, entry.label, entry.client].contains {
            $0.map(pattern.isFound) ?? false
        }
    }
}

/// A text that is searched in other texts, without regard to upper and lower case. The time is
/// linear in the length of the texts.
///
/// The search is the algorithm of Knuth, Morris and Pratt, on bytes. Texts with many partial
/// matches need no more time than others.
struct FoldedText: Hashable, Sendable {
    private let bytes: [UInt8]
    /// The length of the longest prefix that also ends at each position, by position.
    private let borders: [Int]
    private let isASCII: Bool

    init(_ text: String) {
        bytes = Array(text.lowercased().utf8)
        isASCII = bytes.allSatisfy { $0 < 0x80 }
        var borders = [0]
        var length = 0
        for byte in bytes.dropFirst() {
            while length > 0, byte != bytes[length] { length = borders[length - 1] }
            if byte == bytes[length] { length += 1 }
            borders.append(length)
        }
        self.borders = borders
    }

    func isFound(in text: String) -> Bool {
        // ASCII letters are compared byte by byte. Other letters need the whole text in lower case.
        isASCII ? isFound(in: text.utf8) : isFound(in: text.lowercased().utf8)
    }

    private func isFound(in text: String.UTF8View) -> Bool {
        if bytes.isEmpty { return true }
        if text.count < bytes.count { return false }
        var length = 0
        for byte in text {
            let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            let byte = isUpper ? byte | 0x20 : byte
            while length > 0, byte != bytes[length] { length = borders[length - 1] }
            if byte == bytes[length] { length += 1 }
            if length == bytes.count { return true }
        }
        return false
    }
}
