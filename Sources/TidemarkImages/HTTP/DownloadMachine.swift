import TidemarkResilience

/// The decisions of a download over several attempts: the request of each attempt, and the use of
/// its answer. Pure.
///
/// An interrupted download continues where it ended (`Range`), if the rest belongs to the same file
/// (`If-Range`). A picture that is present already is checked with the server (`If-None-Match`).
struct DownloadMachine: Hashable, Sendable {
    enum Event: Hashable, Sendable {
        case begin
        case head(status: Int, HTTPFields)
        /// The number of bytes that arrived.
        case bytes(Int)
        case end
        /// The connection broke, or was silent for too long.
        case broke
    }

    enum Step: Hashable, Sendable {
        /// Send these fields.
        case ask([Field])
        /// Receive the body from now on, after the received bytes or replacing them.
        case receive(fromStart: Bool)
        case goOn
        case finished
        case notModified(HTTPFields)
        case failed(PictureError, Failure)
    }

    struct Field: Hashable, Sendable {
        let name, value: String
    }

    /// The validity of the kept picture; nil if there is none.
    private let known: Validity?
    private let limit: Int
    /// The number of received bytes of the file.
    private(set) var received = 0
    /// The size of the whole file, if the server stated it.
    private(set) var expected: Int?
    /// The fields of the last answer, complete or interrupted.
    private(set) var fields = HTTPFields()
    /// The validator that the rest must match; nil if the rest cannot be requested.
    private var resumableBy: String?
    private var asksForRest = false
    /// The number of attempts that continued an interrupted one.
    private(set) var resumptions = 0

    init(known: Validity? = nil, limit: Int) {
        self.known = known
        self.limit = limit
    }

    /// True if the received bytes are worth keeping for another attempt.
    var canResume: Bool { received > 0 && resumableBy != nil }

    mutating func step(_ event: Event) -> Step {
        switch event {
        case .begin: return .ask(ask())
        case .head(let status, let fields): return head(status, fields)
        case .bytes(let count):
            received += count
            if received > limit { return fail(.tooManyBytes(expected), kind: .permanent) }
            if let expected, received > expected { return restart() }
            return .goOn
        case .end:
            // A body that is shorter than announced was interrupted, even if the connection ended
            // cleanly.
            if let expected, received < expected { return fail(.unreachable, kind: .transient) }
            return received == 0 ? fail(.damaged, kind: .transient) : .finished
        case .broke: return fail(.unreachable, kind: .transient)
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
        case 404, 410: return fail(.notFound, kind: .permanent)
        case 408, 425, 500, 502, 503, 504, 429:
            let delay = Self.retryAfter(fields)
            let kind: Failure.Kind = status == 429 ? .throttled : .transient
            return fail(.serverFailed(status: status, retryAfter: delay), kind: kind, delay: delay)
        case 500...: return fail(.serverFailed(status: status, retryAfter: nil), kind: .permanent)
        default: return fail(.refused(status: status), kind: .permanent)
        }
    }

    private mutating func start(_ fields: HTTPFields) -> Step {
        forget()
        let length = fields.number("content-length")
        if let length, length > limit { return fail(.tooManyBytes(length), kind: .permanent) }
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
        if total > limit { return fail(.tooManyBytes(total), kind: .permanent) }
        expected = total
        resumptions += 1
        return .receive(fromStart: false)
    }

    /// Drops the received bytes, which are useless. The next attempt begins from the start.
    private mutating func restart() -> Step {
        forget()
        return fail(.damaged, kind: .transient)
    }

    private mutating func forget() {
        (received, expected, resumableBy) = (0, nil, nil)
        fields = HTTPFields()
        asksForRest = false
    }

    private func fail(
        _ error: PictureError, kind: Failure.Kind, delay: Duration? = nil
    ) -> Step {
        .failed(error, Failure(kind, hint: delay.map { .after($0) }, hadNoEffect: true))
    }

    /// Returns a validator that guarantees the same bytes: not a weak tag, and a date only if the
    /// file was not changed in the minute before the answer. Source: RFC 9110, 8.8.
    private static func strongValidator(_ fields: HTTPFields) -> String? {
        if fields["accept-ranges"] == "none" { return nil }
        if let etag = fields["etag"] { return etag.hasPrefix("\"") ? etag : nil }
        guard let text = fields["last-modified"], let modified = HTTPDate.seconds(text),
            let date = fields["date"].flatMap(HTTPDate.seconds), date - modified >= 60
        else { return nil }
        return text
    }

    /// Returns the requested delay. A date is compared with the date of the answer.
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
    /// The size of the whole file; nil for `*`.
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
