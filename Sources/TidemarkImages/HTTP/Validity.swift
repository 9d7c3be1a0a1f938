/// The time for which an answer can be shown, and the fields that check it with the server: the
/// rules of RFC 9111 for a private cache.
struct Validity: Hashable, Sendable, Codable {
    var etag: String?
    var lastModified: String?
    /// Milliseconds since 1970, by the device's clock.
    var storedAt: Int64
    /// The duration of freshness after ``storedAt``, in milliseconds.
    var freshMilliseconds: Int64
    /// True if a stale picture must not be shown without a check with the server: `no-cache`,
    /// `must-revalidate`.
    var mustAsk: Bool

    /// The maximum freshness, in seconds.
    static let longest: Int64 = 365 * 86_400
    /// An answer without a stated lifetime is fresh for a tenth of its age. Source: RFC 9111,
    /// 4.2.2.
    private static let guessedShare: Int64 = 10
    private static let longestGuess: Int64 = 86_400

    /// - Parameter now: Milliseconds since 1970.
    /// - Returns: Nil if the answer must not be kept.
    init?(_ fields: HTTPFields, now: Int64) {
        let control = fields.cacheControl
        if control["no-store"] != nil { return nil }
        etag = fields["etag"]
        lastModified = fields["last-modified"]
        storedAt = now
        let asksAlways = control["no-cache"] != nil || fields["vary"] == "*"
        mustAsk = asksAlways || control["must-revalidate"] != nil
        let seconds = asksAlways ? 0 : Self.lifetime(fields, control: control, now: now / 1_000)
        freshMilliseconds = 1_000 * max(0, min(Self.longest, seconds))
    }

    private init(storedAt now: Int64) {
        (storedAt, freshMilliseconds, mustAsk) = (now, 0, true)
    }

    /// Returns the validity of an answer that must not be kept.
    static func nothing(at now: Int64) -> Validity { Validity(storedAt: now) }

    private static func lifetime(
        _ fields: HTTPFields, control: [String: String], now: Int64
    ) -> Int64 {
        // The time that the answer has spent in caches on the way.
        let age = Int64(fields.number("age") ?? 0)
        if let text = control["max-age"] {
            // An unreadable lifetime counts as none: the answer is stale.
            return (HTTPFields.number(text).map(Int64.init) ?? 0) - age
        }
        let date = fields["date"].flatMap(HTTPDate.seconds) ?? now
        if let expires = fields["expires"] {
            return (HTTPDate.seconds(expires) ?? date) - date - age
        }
        guard let modified = fields["last-modified"].flatMap(HTTPDate.seconds) else { return 0 }
        return min(longestGuess, (date - modified) / guessedShare) - age
    }

    /// Returns true if the answer is fresh. An answer from the future, after the clock was set
    /// back, is not fresh.
    func isFresh(at now: Int64) -> Bool {
        now >= storedAt && now - storedAt < freshMilliseconds
    }

    /// Returns the validity after the server confirmed the answer (304), possibly with a new
    /// lifetime.
    func renewed(by fields: HTTPFields, now: Int64) -> Validity? {
        guard var renewed = Validity(fields, now: now) else { return nil }
        renewed.etag = renewed.etag ?? etag
        renewed.lastModified = renewed.lastModified ?? lastModified
        let says = fields.cacheControl["max-age"] != nil || fields["expires"] != nil
        if !says, fields.cacheControl["no-cache"] == nil {
            renewed.freshMilliseconds = freshMilliseconds
            renewed.mustAsk = renewed.mustAsk || mustAsk
        }
        return renewed
    }
}
