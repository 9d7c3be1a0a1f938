import TidemarkResilience

/// One download over several attempts: what each asks for, and what becomes of its answer. Pure.
///
/// A part that is there is taken up where it broke off (`Range`), on the condition that the rest is of
/// the same file (`If-Range`). A picture that is there already is asked after (`If-None-Match`).
struct DownloadMachine: Hashable, Sendable {
    enum Event: Hashable, Sendable {
        case begin
        case head(status: Int, HTTPFields)
        /// So many more.
        case bytes(Int)
        case end
        /// The connection broke, or nothing came for too long.
        case broke
    }

    enum Step: Hashable, Sendable {
        /// These fields are to be sent.
        case ask([Field])
        /// From here on the body is of interest, behind what is there already or instead of it.
        case receive(fromStart: Bool)
        case goOn
        case finished
        case notModified(HTTPFields)
        case failed(PictureError, Failure)
    }

    struct Field: Hashable, Sendable {
        let name, value: String
    }

    /// What is kept of this picture; nil for nothing.
    private let known: Validity?
    private let limit: Int
    /// Bytes of the file that are there.
    private(set) var received = 0
    /// Of the whole file, where the server said it.
    private(set) var expected: Int?
    /// Of the answer that is complete or was broken off.
    private(set) var fields = HTTPFields()
    /// What the rest must still be of; nil when it cannot be asked for.
    private var resumableBy: String?
    private var asksForRest = false
    /// How many attempts went on where another had broken off.
    private(set) var resumptions = 0

    init(known: Validity? = nil, limit: Int) {
        self.known = known
        self.limit = limit
    }

    /// Whether what is there is worth keeping for another attempt.
    var canResume: Bool { received > 0 && resumableBy != nil }

    mutating func step(_ event: Event) -> Step {
        switch event {
        case .begin: return .ask(ask())
        case .head(let status, let fields): return head(status, fields)
        case .bytes(let count):
            received += count
            if received > limit { return fail(.tooManyBytes(expected), .permanent) }
            if let expected, received > expected { return restart() }
            return .goOn
        case .end:
            // A body that is shorter than was said broke off, whatever the connection says.
            if let expected, received < expected { return fail(.unreachable, .transient) }
            return received == 0 ? fail(.damaged, .transient) : .finished
        case .broke: return fail(.unreachable, .transient)
        }
    }

    private mutating func ask() -> [Field] {
        asksForRest = canResume
        if asksForRest, let resumableBy {
            return [
                Field(name: "range", value: "bytes=\(received)-"),
                Field(name: "if-range", value: resumableBy),
            ]
        }
        var ask: [Field] = []
        if let etag = known?.etag {
            ask.append(Field(name: "if-none-match", value: etag))
        } else if let date = known?.lastModified {
            ask.append(Field(name: "if-modified-since", value: date))
        }
        return ask
    }

    private mutating func head(_ status: Int, _ fields: HTTPFields) -> Step {
        switch status {
        case 200: return start(fields)
        case 206: return goOn(fields)
        case 304:
            if asksForRest || known == nil { return restart() }
            return .notModified(fields)
        case 416: return restart()
        case 404, 410: return fail(.notFound, .permanent)
        case 408, 425, 500, 502, 503, 504, 429:
            let delay = Self.retryAfter(fields)
            let kind: Failure.Kind = status == 429 ? .throttled : .transient
            return fail(.serverFailed(status: status, retryAfter: delay), kind, delay)
        case 500...: return fail(.serverFailed(status: status, retryAfter: nil), .permanent)
        default: return fail(.refused(status: status), .permanent)
        }
    }

    private mutating func start(_ fields: HTTPFields) -> Step {
        forget()
        let length = fields.number("content-length")
        if let length, length > limit { return fail(.tooManyBytes(length), .permanent) }
        expected = length
        self.fields = fields
        resumableBy = Self.strongValidator(fields)
        return .receive(fromStart: true)
    }

    private mutating func goOn(_ fields: HTTPFields) -> Step {
        guard asksForRest, let range = ContentRange(fields["content-range"]),
            range.first == received, let total = range.total, total > received,
            expected == nil || expected == total
        else { return restart() }
        if total > limit { return fail(.tooManyBytes(total), .permanent) }
        expected = total
        resumptions += 1
        return .receive(fromStart: false)
    }

    /// What is there is of no use, and the next attempt begins from nothing.
    private mutating func restart() -> Step {
        forget()
        return fail(.damaged, .transient)
    }

    private mutating func forget() {
        (received, expected, resumableBy) = (0, nil, nil)
        fields = HTTPFields()
        asksForRest = false
    }

    private func fail(
        _ error: PictureError, _ kind: Failure.Kind, _ delay: Duration? = nil
    ) -> Step {
        .failed(error, Failure(kind, hint: delay.map { .after($0) }, hadNoEffect: true))
    }

    /// One that says byte by byte the same: not a weak tag, and a date only if the file was not still
    /// being changed in its minute. Source: RFC 9110, 8.8.
    private static func strongValidator(_ fields: HTTPFields) -> String? {
        if fields["accept-ranges"] == "none" { return nil }
        if let etag = fields["etag"] { return etag.hasPrefix("\"") ? etag : nil }
        guard let text = fields["last-modified"], let modified = HTTPDate.seconds(text),
            let date = fields["date"].flatMap(HTTPDate.seconds), date - modified >= 60
        else { return nil }
        return text
    }

    /// In seconds; a date counts from the answer's own.
    private static func retryAfter(_ fields: HTTPFields) -> Duration? {
        guard let text = fields["retry-after"] else { return nil }
        if let seconds = HTTPFields.number(text) { return .seconds(seconds) }
        guard let until = HTTPDate.seconds(text),
            let date = fields["date"].flatMap(HTTPDate.seconds)
        else { return nil }
        return .seconds(max(0, until - date))
    }
}

/// `Content-Range: bytes 100-199/1000`.
struct ContentRange: Hashable {
    let first: Int
    /// Nil for `*`.
    let total: Int?

    init?(_ text: String?) {
        guard let text, text.hasPrefix("bytes ") else { return nil }
        let parts = text.dropFirst(6).split(separator: "/")
        guard parts.count == 2 else { return nil }
        let ends = parts[0].split(separator: "-")
        guard ends.count == 2, let first = HTTPFields.number(ends[0]),
            let last = HTTPFields.number(ends[1]), last >= first
        else { return nil }
        let total = HTTPFields.number(parts[1])
        if total == nil, parts[1] != "*" { return nil }
        if let total, last >= total { return nil }
        self.first = first
        self.total = total
    }
}
