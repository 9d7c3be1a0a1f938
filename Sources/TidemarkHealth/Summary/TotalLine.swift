/// A day's total of a kind as a line of comma-separated values: kind, day, sum, readings, smallest,
/// largest.
package enum TotalLine {
    package static func text(
        _ kind: HealthKind, _ day: HealthDay, sum: Double, count: Int, minimum: Double?,
        maximum: Double?
    ) -> String {
        let edges = [minimum, maximum].map { $0.map { "\($0)" } ?? "" }
        return "\(kind.name),\(day),\(sum),\(count),\(edges[0]),\(edges[1])"
    }
}
