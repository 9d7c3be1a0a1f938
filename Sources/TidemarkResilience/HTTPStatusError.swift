public import Foundation

/// An answer over HTTP that is none: throw it for a status that is not 2xx, and ``Retry`` knows what to
/// make of it.
public struct HTTPStatusError: Error, Hashable, Sendable, RetryClassifiable {
    public let status: Int
    /// What the server asked for; nil when it did not.
    public let retryAfter: Duration?

    /// - Parameters:
    ///   - status: The answer's status.
    ///   - retryAfter: The header of that name: seconds, or a date. What is neither is left out.
    ///   - now: By this device's clock, for a date.
    public init(_ status: Int, retryAfter: String? = nil, now: Date = Date()) {
        self.status = status
        self.retryAfter = retryAfter.flatMap { Self.delay($0, now) }
    }

    /// 408, 425 and 5xx pass; 429 is too much; 401 asks for credentials; the other 4xx, 501 and 505 are
    /// the request's fault.
    public var failure: Failure {
        let hint = retryAfter.map { Failure.Hint.after($0) }
        switch status {
        case 401: return Failure(.authentication, hint: hint, hadNoEffect: true)
        case 429: return Failure(.throttled, hint: hint, hadNoEffect: true)
        // It says of itself that it has not begun.
        case 425, 503: return Failure(.transient, hint: hint, hadNoEffect: true)
        case 501, 505: return Failure(.permanent)
        case 408, 500..<600: return Failure(.transient, hint: hint)
        default: return Failure(.permanent)
        }
    }

    /// The longest wait that a header can ask for.
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
