package import TidemarkModel

/// The result of a query of the collection and filters of a feed or a pager, as an earlier listener
/// left it, or another client whose cache was taken over.
package struct KnownResult: Sendable {
    /// The maximum number of rows of a result with which a feed or a pager begins.
    static let mostRows = 2_000

    /// The rows that exist, newest item first, as the server has confirmed them.
    package var documents: [Document]
    /// The time as of which the rows were the whole result.
    package var readTime: Timestamp
    /// True if the result is every document; false if it is the newest ones.
    package var isAll: Bool
}

extension FeedProgress {
    /// Returns the progress of a feed that begins with a known result, and the range of which
    /// everything is held.
    ///
    /// A row that has changed after the result may have had another time then, so the lowest of the
    /// other rows bounds the range.
    ///
    /// - Parameter rows: The rows of the result, newest first.
    /// - Returns: Nil if the result says nothing about any range.
    package static func beginning(
        with rows: [FeedBookRow], asOf readTime: Timestamp, isAll: Bool, rules: FeedRules
    ) -> (progress: FeedProgress, covered: Range<CoveragePosition>)? {
        var placed = rows.filter { $0.itemTime != nil }
        if !isAll {
            guard let last = placed.lastIndex(where: { $0.updateTime <= readTime }) else {
                return nil
            }
            placed = Array(placed[...last])
        }
        let range = CoveragePosition.lowest..<CoveragePosition.highest
        let plan = ReadPlan(
            kind: .page, question: .items(range), pageSize: placed.count + (isAll ? 1 : 0),
            prediction: ReadPlan.Prediction(atLeast: 0, atMost: 0),
            reason: "")
        var progress = FeedProgress(overlap: rules.overlap)
        _ = progress.receive(placed, of: plan, readTime: readTime, rules: rules)
        return (progress, covered(by: placed, of: range, isLast: isAll))
    }
}

extension PageProgress {
    /// Returns the progress of a pager that begins with a known result, and the range of which
    /// everything is held: from the newest row down to the oldest one, or to the end if the result
    /// is everything.
    ///
    /// The range does not reach above the newest row, because newer rows can exist by now. A row
    /// that has changed after the result may have had another time then, so the other rows bound
    /// the range.
    ///
    /// - Parameter rows: The rows of the result, in any order.
    /// - Returns: Nil if the result says nothing about any range.
    package static func beginning(
        with rows: [FeedBookRow], asOf readTime: Timestamp, isAll: Bool
    ) -> (progress: PageProgress, covered: Range<CoveragePosition>)? {
        let places = rows.filter { $0.updateTime <= readTime }.compactMap { row in
            row.itemTime.map { (time: $0, path: row.path) }
        }
        guard let first = places.map({ CoveragePosition.after($0.time, $0.path) }).max(),
            let last = places.map({ CoveragePosition.before($0.time, $0.path) }).min()
        else { return nil }
        let covered = (isAll ? .lowest : last)..<first
        var progress = PageProgress()
        progress.insert(covered, asOf: readTime)
        return (progress, covered)
    }
}

/// The orders and the limit of a query, as far as its result tells what exists by item time.
struct ResultShape: Equatable {
    /// The maximum number of rows; nil for all.
    var limit: Int?

    /// - Parameter text: The end of a target's text, behind `|ob:`.
    init?(_ text: Substring, by itemTime: FieldPath) {
        let name = FieldPath.documentID
        let newestFirst = Self.text(Order(itemTime, .descending), Order(name, .descending))
        let all = [
            Self.text(Order(name)), Self.text(Order(name, .descending)), newestFirst,
            Self.text(Order(itemTime), Order(name)),
        ]
        if all.contains(String(text)) { return }
        guard text.hasPrefix(newestFirst + "|l:"),
            let count = Int(text.dropFirst(newestFirst.count + 3))
        else { return nil }
        limit = count
    }

    /// Returns the orders as they stand in a target's text.
    private static func text(_ orders: Order...) -> String {
        orders.map { $0.field.encoded + ($0.direction == .ascending ? " asc" : " desc") }
            .joined(separator: ",")
    }
}
