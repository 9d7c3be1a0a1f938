/// Which entries the traffic page shows. Nil and empty parts let everything pass.
struct TrafficFilter: Hashable, Sendable, Encodable {
    enum Show: String, Hashable, Sendable, CaseIterable, Encodable {
        case all, open, failed, writes, listens
    }

    /// The longest text, in bytes of UTF-8: a longer one is refused before anything is searched.
    static let maxBytes = 200

    /// Found in the label, client, method, or what was asked, whatever the case.
    let text: String?
    let show: Show
    /// Reads that an entry has at least.
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
        }
        guard let pattern else { return true }
        return [entry.asked, entry.method, entry.label, entry.client].contains {
            $0.map(pattern.isFound) ?? false
        }
    }
}

/// A text to be found in others, whatever the case, in time that is linear in their length.
///
/// The search is the one of Knuth, Morris and Pratt, on bytes: a text that nearly matches everywhere costs
/// no more than any other.
struct FoldedText: Hashable, Sendable {
    private let bytes: [UInt8]
    /// For each place, the length of the longest beginning that ends there too.
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
        // ASCII is folded byte by byte; other letters need the whole text in lower case.
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
