// https://developer.apple.com/documentation/os
import Synchronization

/// https://developer.apple.com/documentation/os/oslogprivacy
public struct OSLogPrivacy: Sendable {
    fileprivate let isShown: Bool
    public static var auto: OSLogPrivacy { OSLogPrivacy(isShown: false) }
    public static var `public`: OSLogPrivacy { OSLogPrivacy(isShown: true) }
    public static var `private`: OSLogPrivacy { OSLogPrivacy(isShown: false) }
}

/// https://developer.apple.com/documentation/os/oslogmessage
public struct OSLogMessage: ExpressibleByStringInterpolation {
    fileprivate let text: String

    public init(stringLiteral value: String) { text = value }
    public init(stringInterpolation: OSLogInterpolation) { text = stringInterpolation.text }
}

/// https://developer.apple.com/documentation/os/osloginterpolation
public struct OSLogInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    public init(literalCapacity: Int, interpolationCount: Int) {}
    public mutating func appendLiteral(_ literal: String) { text += literal }
    public mutating func appendInterpolation(
        _ argumentString: @autoclosure @escaping () -> String, privacy: OSLogPrivacy = .auto
    ) { text += privacy.isShown ? argumentString() : "<private>" }
}

/// Stores the logged lines.
///
/// https://developer.apple.com/documentation/os/logger
public struct Logger: Sendable {
    private static let lines = Mutex<[String]>([])
    private let category: String

    public init(subsystem: String, category: String) { self.category = category }

    public func debug(_ message: OSLogMessage) { write("debug", message) }
    public func notice(_ message: OSLogMessage) { write("notice", message) }
    public func fault(_ message: OSLogMessage) { write("fault", message) }

    private func write(_ level: String, _ message: OSLogMessage) {
        Self.lines.withLock { $0.append("\(category) \(level) \(message.text)") }
    }

    public static var stubLines: [String] { lines.withLock { $0 } }
}
