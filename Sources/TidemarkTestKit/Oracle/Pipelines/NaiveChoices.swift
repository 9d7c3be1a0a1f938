package import TidemarkModel

// Firestore leaves the order of rows open where no sort determines it, and of equal numbers, 1 and
// 1.0, either may stand for a group. A pipeline whose rows depend on such a choice has several
// right answers, and is not compared.

/// The choices that one run has met.
final class NaiveChoices {
    /// True if the rows depend on a choice.
    private(set) var areOpen = false
    /// True if the form of a number depends on a choice, which a later stage could see.
    private var hasFreeForms = false

    func note(_ isOpen: Bool) { areOpen = areOpen || isOpen }
    func noteFreeForm() { hasFreeForms = true }
    func beginStage() { areOpen = areOpen || hasFreeForms }
}

/// The rows of a pipeline, and the orders in which a place may return them.
package struct NaiveAnswer {
    /// The rows; nil for a pipeline that fails.
    package let rows: [NaiveRow]?
    /// False if the rows depend on an order that Firestore leaves open.
    package let isDetermined: Bool

    /// Returns true if these are the rows, in an order that the pipeline allows.
    ///
    /// - Parameter found: The rows of the place; nil if the pipeline failed there.
    package func allows(_ found: [NaiveRow]?) -> Bool {
        guard let rows, let found else { return rows == nil && found == nil }
        if rows.count != found.count { return false }
        var start = 0
        while start < rows.count {
            let end = rows[start...].firstIndex { $0.rank != rows[start].rank } ?? rows.count
            let areSame = NaiveRow.areSame(
                Array(rows[start..<end]), Array(found[start..<end]), inOrder: false)
            if !areSame { return false }
            start = end
        }
        return true
    }
}

extension NaivePipelines {
    /// Returns the rows of a pipeline over the documents, with what is open about them.
    ///
    /// An evaluator answers one pipeline only.
    package func answer(_ pipeline: Pipeline) -> NaiveAnswer {
        let rows = run(pipeline)
        return NaiveAnswer(
            rows: rows.contains(where: \.isFailed) ? nil : rows,
            isDetermined: !choices.areOpen)
    }

    func unordered(_ rows: [NaiveRow]) -> [NaiveRow] {
        rows.map { row in
            var row = row
            row.rank = 0
            return row
        }
    }

    /// Notes a cut between rows whose order is open.
    func noteCut(_ rows: [NaiveRow], at count: Int) {
        guard count > 0, count < rows.count else { return }
        choices.note(rows[count - 1].rank == rows[count].rank)
    }

    /// Notes equal values of which any may be the result.
    func noteForms(_ values: [Value]) {
        if !areIdentical(values) { choices.noteFreeForm() }
    }

    /// Returns true if another order of the rows would give another list of values.
    func order(of rows: [NaiveRow], leavesOpen values: [Value]) -> Bool {
        zip(rows, values).enumerated().contains { index, pair in
            index > 0 && rows[index - 1].rank == pair.0.rank
                && !areIdentical([values[index - 1], pair.1])
        }
    }

    /// Returns true if all values are equal, with the same kinds of numbers.
    func areIdentical(_ values: [Value]) -> Bool {
        values.dropFirst().allSatisfy { isIdentical($0, values[0]) }
    }

    private func isIdentical(_ left: Value, _ right: Value) -> Bool {
        switch (left, right) {
        case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern || a.isNaN && b.isNaN
        case (.integer, .double), (.double, .integer): false
        case (.array(let a), .array(let b)):
            a.count == b.count && zip(a, b).allSatisfy(isIdentical)
        case (.map(let a), .map(let b)):
            a.count == b.count
                && zip(a, b).allSatisfy { $0.key == $1.key && isIdentical($0.value, $1.value) }
        default: left == right
        }
    }

    /// Replaces each row by some rows. They keep their order if the order of the row is
    /// determined.
    func ranked(_ rows: [NaiveRow], _ change: (NaiveRow) -> [NaiveRow]) -> [NaiveRow] {
        var result: [NaiveRow] = []
        var rank = -1
        var last: Int?
        for row in rows {
            let isAlone = rows.count { $0.rank == row.rank } == 1
            if last != row.rank { rank += 1 }
            last = row.rank
            for (place, var made) in change(row).enumerated() {
                if isAlone, place > 0 { rank += 1 }
                made.rank = rank
                result.append(made)
            }
        }
        return result
    }
}
