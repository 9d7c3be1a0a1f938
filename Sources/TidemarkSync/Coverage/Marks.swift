public import TidemarkModel

/// The two marks of a context: up to where its user cleared it, and up to where they consumed it.
///
/// Kept in Firestore's full precision; the API counts milliseconds since 1970.
public struct Marks: Hashable, Sendable {
    /// When the user last cleared: nothing at or below it is shown.
    public private(set) var action: Timestamp?
    /// The newest item that the user has consumed.
    public private(set) var consumption: Timestamp?

    public enum Name: Hashable, Sendable { case action, consumption }

    public enum Move: Hashable, Sendable {
        case moved(to: Timestamp)
        /// It was ahead of the server's time, to which it was moved instead.
        case clamped(to: Timestamp)
        /// Marks only move forward: it stays where it was.
        case ignored(at: Timestamp)
        /// It was negative: the mark is gone, and nothing is filtered by it.
        case reset
    }

    public init() {}

    /// Above which a plain two-timestamp query asks.
    public var floor: Timestamp? {
        guard let action, let consumption else { return action ?? consumption }
        return max(action, consumption)
    }

    /// - Parameters:
    ///   - milliseconds: Since 1970. A whole millisecond is meant: all of its fractions are below.
    ///   - serverNow: The server's time as far as it is known; never the device's.
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

    /// How long the first answer may have been under way: by so much a mark may be ahead of its time and
    /// yet right.
    package static let travel = Duration.seconds(60)

    /// For when the server's time becomes known after a mark was moved: what is ahead of it by more than
    /// an answer's travel goes back.
    ///
    /// - Returns: Whether a mark was ahead.
    package mutating func clamp(to readTime: Timestamp) -> Bool {
        let before = self
        let end = readTime.advanced(by: Self.travel)
        action = action.map { $0 > end ? readTime : $0 }
        consumption = consumption.map { $0 > end ? readTime : $0 }
        return self != before
    }

    /// Takes over what another device of the user has, mark by mark.
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

    /// Nil when the bytes are none that ``encoded`` made.
    package init?(encoded bytes: [UInt8]) {
        guard var reader = RecordReader(bytes, format: Self.format),
            let action = reader.optional({ $0.time() }),
            let consumption = reader.optional({ $0.time() }), reader.isAtEnd
        else { return nil }
        self.action = action
        self.consumption = consumption
    }
}
