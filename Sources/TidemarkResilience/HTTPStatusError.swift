public import Foundation

/// The error for an HTTP status other than 2xx. Throw it, and ``Retry`` knows how to handle the
/// status.
public struct HTTPStatusError: Error, Hashable, Sendable, RetryClassifiable {
    public let status: Int
    /// The delay that the server asked for; nil if it asked for none.
    public let retryAfter: Duration?

    /// - Parameters:
    ///   - status: The status of the response.
    ///   - retryAfter: The `Retry-After` header: seconds or a date. Any other text is ignored.
    ///   - now: The time on this device's clock, for a date.
    public init(_ status: Int, retryAfter: String? = nil, now: Date = Date()) {
        self.status = status
        self.retryAfter = retryAfter.flatMap { Self.delay($0, now) }
    }

    /// The classification: 408, 425 and 5xx are transient, 429 is throttled, 401 needs credentials.
    /// The other 4xx, 501 and 505 are permanent.
    public var failure: Failure {
        let hint = retryAfter.map { Failure.Hint.after($0) }
        switch status {
        case 401: return Failure(.authentication, hint: hint, hadNoEffect: true)
        case 429: return Failure(.throttled, hint: hint, hadNoEffect: true)
        // The status says that the server has not begun the request.
        case 425, 503: return Failure(.transient, hint: hint, hadNoEffect: true)
        case 501, 505: return Failure(.permanent)
        case 408, 500..<600: return Failure(.transient, hint: hint)
        default: return Failure(.permanent)
        }
    }

    /// The longest delay that a header can request, in seconds.
    private static let longest = 86_400.0

    private static func delay(_ text: String, _ now: Date) -> Duration? {
        let text = text.trimmingCharacters(in: .whitespaces)
        let seconds: Double
        if let number = UInt32(text) {
            seconds = Double(number)
        } else {
            let format = DateFormatter()
            format.locale = Locale(identifier: "en_US_POSIX")
            format.timeZone = TimeZone(identifier: "GMT")
            format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
            guard let date = format.date(from: text) else { return nil }
            seconds = date.timeIntervalSince(now)
        }
        return .milliseconds(Int64(min(max(0, seconds), longest) * 1_000))
    }
}
