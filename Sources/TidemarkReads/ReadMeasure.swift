import TidemarkModel

/// A number that a line is compared by: documents in both editions, and units in the Enterprise
/// edition.
package enum ReadMeasure: CaseIterable, Hashable, Sendable {
    case reads
    case readUnits
    case updateUnits

    /// The name for a person, in the singular.
    var word: String {
        switch self {
        case .reads: "read"
        case .readUnits: "read unit"
        case .updateUnits: "update unit"
        }
    }

    /// The name in a file.
    var key: String {
        switch self {
        case .reads: "reads"
        case .readUnits: "readUnits"
        case .updateUnits: "updateUnits"
        }
    }

    /// The measures by which lines of an edition are compared.
    static func all(of edition: DatabaseEdition) -> [ReadMeasure] {
        edition.isBilledByUnits ? [.readUnits, .updateUnits, .reads] : [.reads]
    }

    func of(_ line: RunLine) -> Int {
        switch self {
        case .reads: line.reads
        case .readUnits: line.units.read
        case .updateUnits: line.units.realtimeUpdate
        }
    }

    /// Returns the range that a file allows; zero for units of a file of the Standard edition.
    func range(of line: KeptLine) -> ClosedRange<Int> {
        switch self {
        case .reads: line.least...line.most
        case .readUnits: line.readUnits ?? 0...0
        case .updateUnits: line.updateUnits ?? 0...0
        }
    }
}

extension ClosedRange<Int> {
    /// The range as text, such as `20` or `18 to 22`.
    var amount: String {
        lowerBound == upperBound ? "\(upperBound)" : "\(lowerBound) to \(upperBound)"
    }
}

extension KeptLine {
    /// Sets the range of a measure.
    mutating func set(_ measure: ReadMeasure, _ range: ClosedRange<Int>) {
        switch measure {
        case .reads: (least, most) = (range.lowerBound, range.upperBound)
        case .readUnits: readUnits = range
        case .updateUnits: updateUnits = range
        }
    }
}
