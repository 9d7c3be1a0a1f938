public import TidemarkModel

/// The two marks of a context: the position up to which its user cleared it, and up to which the
/// user consumed it.
///
/// Marks have Firestore's full precision; the API uses milliseconds since 1970.
public struct Marks: Hashable, Sendable {
    /// The time of the last clear. Nothing at or below it is shown.
    public private(set) var action: Timestamp?
    /// The time of the newest item that the user has consumed.
    public private(set) var consumption: Timestamp?

    public enum Name: Hashable, Sendable { case action, consumption }

    public enum Move: Hashable, Sendable {
        case moved(to: Timestamp)
        /// The requested time was later than the server's time, which the mark got instead.
        case clamped(to: Timestamp)
        /// Marks only move forward, so the mark kept its position.
        case ignored(at: Timestamp)
        /// The time was negative: the mark is removed and filters nothing.
        case reset
    }

    public init() {}

    /// The lower bound of a simple query with both marks.
    public var floor: Timestamp? {
        guard let action, let consumption else { return action ?? consumption }
        return max(action, consumption)
    }

    /// - Parameters:
    ///   - milliseconds: The time since 1970. The mark covers the whole millisecond.
    ///   - serverNow: The server's time, if known; never the device's.
    @discardableResult
    public mutating func move(
        _ name: Name, toMilliseconds milliseconds: Int64, serverNow: Timestamp?
    ) -> Move {
        guard milliseconds >= 0 else {
            self[name] = nil
            return .reset
        }
        let last = Timestamp.max.milliseconds
        let time = Timestamp(
            microseconds: min(milliseconds, last - 1) * 1_000 + 999)
        return move(name, to: time, serverNow: serverNow)
    }

    @discardableResult
    public mutating func move(
        _ name: Name, to time: Timestamp, serverNow: Timestamp?
    ) -> Move {
        guard time >= .epoch else {
            self[name] = nil
            return .reset
        }
        let target = serverNow.map { min($0, time) } ?? time
        if let current = self[name], target <= current { return .ignored(at: current) }
        self[name] = target
        return target == time ? .moved(to: target) : .clamped(to: target)
    }

    /// The maximum time that the first answer may have travelled. A mark may be later than the
    /// answer's time by this much and still be right.
    package static let travel = Duration.seconds(60)

    /// Moves marks back that are later than the server's time, when that becomes known after a mark
    /// was moved. Allows for ``travel``.
    ///
    /// - Returns: True if a mark was moved back.
    package mutating func clamp(to readTime: Timestamp) -> Bool {
        let before = self
        let end = readTime.advanced(by: Self.travel)
        action = action.map { $0 > end ? readTime : $0 }
        consumption = consumption.map { $0 > end ? readTime : $0 }
        return self != before
    }

    /// Merges the marks of another device of the user, each by itself.
    public mutating func merge(_ other: Marks) {
        action = [action, other.action].compactMap(\.self).max()
        consumption = [consumption, other.consumption].compactMap(\.self).max()
    }

    private subscript(name: Name) -> Timestamp? {
        get { name == .action ? action : consumption }
        set {
            switch name {
            case .action: action = newValue
            case .consumption: consumption = newValue
            }
        }
    }
}

extension Marks {
    private static let format: UInt8 = 1

    package var encoded: [UInt8] {
        var writer = RecordWriter(format: Self.format)
        writer.optional(action) { $0.time($1) }
        writer.optional(consumption) { $0.time($1) }
        return writer.bytes
    }

    /// Returns nil if ``encoded`` did not make the bytes.
    package init?(encoded bytes: [UInt8]) {
        guard var reader = RecordReader(bytes, format: Self.format),
            let action = reader.optional({ $0.time() }),
            let consumption = reader.optional({ $0.time() }), reader.isAtEnd
        else { return nil }
        self.action = action
        self.consumption = consumption
    }
}
