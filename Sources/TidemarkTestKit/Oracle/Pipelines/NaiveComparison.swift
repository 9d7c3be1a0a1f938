import TidemarkModel

extension NaiveRow {
    /// Returns true if rows are equal up to the rounding of sums, and to the kind of a number: of 1
    /// and 1.0, either one may stand for a group.
    ///
    /// - Parameter inOrder: False to compare the rows in any order.
    package static func areSame(
        _ left: [NaiveRow], _ right: [NaiveRow], inOrder: Bool
    ) -> Bool {
        if left.count != right.count { return false }
        if inOrder { return zip(left, right).allSatisfy(isSame) }
        var rest = right
        for row in left {
            guard let place = rest.firstIndex(where: { isSame(row, $0) }) else { return false }
            rest.remove(at: place)
        }
        return true
    }

    private static func isSame(_ left: NaiveRow, _ right: NaiveRow) -> Bool {
        guard let a = left.fields, let b = right.fields, left.path == right.path else {
            return false
        }
        return isSame(.map(a), .map(b))
    }

    private static func isSame(_ left: Value, _ right: Value) -> Bool {
        switch (left, right) {
        case (.integer(let a), .double(let b)), (.double(let b), .integer(let a)):
            return isSame(.double(Double(a)), .double(b))
        case (.double(let a), .double(let b)):
            return a == b || a.isNaN && b.isNaN
                || abs(a - b) <= max(1e-9, 1e-12 * max(abs(a), abs(b)))
        case (.array(let a), .array(let b)):
            return a.count == b.count && zip(a, b).allSatisfy(isSame)
        case (.map(let a), .map(let b)):
            return a.count == b.count
                && zip(a, b).allSatisfy { $0.key == $1.key && isSame($0.value, $1.value) }
        default: return left == right
        }
    }
}
