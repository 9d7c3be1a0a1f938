import Foundation
public import Tidemark

extension Marks {
    /// The unit of a number that an older version of the app has kept.
    public enum KeptUnit: Hashable, Sendable { case seconds, milliseconds }

    /// Moves the marks of a feed to the times that an older version of the app has kept on the
    /// device.
    ///
    /// A kept time is a date, a number since 1970, or a text of digits. A missing value, zero and a
    /// negative number move nothing. Marks only move forward, so the call can be repeated at each
    /// launch, and a time ahead of the server's is reduced to that time. Costs no reads; a shared
    /// clear mark costs a write if it moves.
    ///
    /// ```swift
    /// let moves = try await Marks.adopt(
    ///     cleared: defaults.object(forKey: "cleared_blue"),
    ///     seen: defaults.object(forKey: "seen_blue"), into: feed)
    /// ```
    ///
    /// - Parameters:
    ///   - cleared: The kept time of the last clear; nil for none.
    ///   - seen: The kept time up to which the user has seen the feed; nil for none.
    ///   - unit: The unit of numbers and digits.
    ///   - feed: The feed whose marks move.
    ///   - isolation: The caller's actor.
    /// - Returns: The moves, by mark. A mark without a kept time is missing.
    /// - Throws: `invalidArgument` for a value that is no time, or whose number can only have the
    ///   other unit; then no mark has moved. The error of the disk.
    @discardableResult
    public static func adopt(
        cleared: Any? = nil, seen: Any? = nil, numbersIn unit: KeptUnit = .milliseconds,
        into feed: Feed, isolation: isolated (any Actor)? = #isolation
    ) async throws(FirestoreError) -> [Name: Move] {
        let clearedAt = try KeptMark(cleared, unit)?.milliseconds
        let seenAt = try KeptMark(seen, unit)?.milliseconds
        var moves: [Name: Move] = [:]
        if let clearedAt {
            moves[.action] = try await feed.clear(throughMilliseconds: clearedAt)
        }
        if let seenAt {
            moves[.consumption] = try await feed.markConsumed(throughMilliseconds: seenAt)
        }
        return moves
    }
}

/// A time that an older version of the app has kept.
struct KeptMark: Hashable, Sendable {
    /// Milliseconds since 1970.
    let milliseconds: Int64

    /// The number between plausible seconds and plausible milliseconds since 1970: the year 5138
    /// in seconds, March 1973 in milliseconds.
    private static let border = 100_000_000_000.0

    /// - Parameters:
    ///   - value: The kept value; the result is nil if there is none, or if it names no time after
    ///     1970.
    ///   - unit: The unit of a number.
    /// - Throws: `invalidArgument` for a value that is no time in the unit.
    init?(_ value: Any?, _ unit: Marks.KeptUnit) throws(FirestoreError) {
        guard let value else { return nil }
        if let date = value as? Date {
            guard let time = Self.milliseconds(date.timeIntervalSince1970 * 1_000) else {
                return nil
            }
            milliseconds = time
            return
        }
        guard let number = Self.number(value), number.isFinite else {
            throw .invalidArgument("A kept mark is no time.")
        }
        if number <= 0 { return nil }
        switch unit {
        case .seconds where number >= Self.border:
            throw .invalidArgument("A kept mark is too large for seconds since 1970.")
        case .milliseconds where number < Self.border:
            throw .invalidArgument("A kept mark is too small for milliseconds since 1970.")
        case .seconds: milliseconds = Self.milliseconds(number * 1_000) ?? 0
        case .milliseconds: milliseconds = Self.milliseconds(number) ?? 0
        }
    }

    /// Returns the whole milliseconds; nil for a time before 1970.
    private static func milliseconds(_ number: Double) -> Int64? {
        number > 0 ? Int64(min(number.rounded(.down), 9e15)) : nil
    }

    private static func number(_ value: Any) -> Double? {
        if let number = value as? NSNumber { return number.doubleValue }
        if let number = value as? any BinaryInteger { return Double(number) }
        if let number = value as? Double { return number }
        guard let text = value as? String, !text.isEmpty,
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Double(text)
    }
}
