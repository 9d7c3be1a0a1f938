public import TidemarkWords

/// The reason why an export cannot be imported. A bad record is skipped instead: see ``BadRecord``.
public enum HealthExportError: Error, Hashable, Sendable {
    /// The file is neither an `export.xml` nor a zip with one.
    case notAnExport(file: String)
    /// The file has records, but none of them could be read. `counts` lists the first of them. The
    /// import stores nothing.
    case allBad(file: String, counts: ExportCounts)
    /// The file has no hours: it is neither CSV with column names nor JSON lines.
    case notRows(file: String)
    /// The file cannot be opened or read.
    case unreadable(file: String, detail: String)
    /// The zip is cut off, damaged, encrypted, or of an unsupported kind.
    case badArchive(file: String, detail: String)
    /// The zip would unpack to more than an export can have.
    case tooLarge(file: String)
    /// The store on this device failed, or there is no space for sorting.
    case storage(detail: String)

    /// The sentence in the app's language.
    public var message: String { sentence.localized() }

    /// A sentence for the person using the app.
    public var sentence: Sentence {
        switch self {
        case .notAnExport(let file):
            Sentence(
                "health.notAnExport",
                "%1$@ isn't an Apple Health export: choose the export.zip of the Health app, or "
                    + "the export.xml in it.", arguments: [file])
        case .allBad(let file, let counts):
            Sentence(
                "health.allBad",
                "None of the %2$@ records in %1$@ can be read, and nothing was imported. The first one: "
                    + "%3$@.",
                arguments: [
                    file, "\(counts.bad)",
                    counts.badRecords.first.map { "\($0)" } ?? "it is damaged",
                ])
        case .notRows(let file):
            Sentence(
                "health.notRows",
                "%1$@ contains no hourly health data, neither as CSV nor as JSON lines.",
                arguments: [file])
        case .unreadable(let file, let detail):
            Sentence("health.unreadable", "%1$@ cannot be read: %2$@.", arguments: [file, detail])
        case .badArchive(let file, let detail):
            Sentence(
                "health.badArchive", "%1$@ cannot be unpacked: %2$@.", arguments: [file, detail])
        case .tooLarge(let file):
            Sentence(
                "health.tooLarge",
                "%1$@ is far larger than a health export when unpacked, so it was not imported.",
                arguments: [file])
        case .storage(let detail):
            Sentence(
                "health.storage", "There is a problem with this device's storage: %1$@.",
                arguments: [detail])
        }
    }
}

extension HealthExportError: CustomStringConvertible {
    public var description: String { message }
}

/// A record that was skipped, and the reason.
public struct BadRecord: Hashable, Sendable {
    public enum Reason: Hashable, Sendable {
        case malformed, tooLong
        case missing(attribute: String)
        case badDate(attribute: String)
        case badValue, badUnit, outOfRange
        case endsBeforeItStarts, lastsTooLong, tooManySources
        /// The row begins in one hour of the day and ends in another.
        case notAnHour
    }

    /// The line in the file, from 1.
    public let line: Int
    /// The byte offset in the unpacked file.
    public let offset: Int64
    public let reason: Reason
    /// The wrong text of the record, at most 100 characters; nil if no single text is wrong.
    public let text: String?

    static func shown(_ text: String) -> String {
        text.count > 100 ? text.prefix(99) + "…" : text
    }
}

extension BadRecord: CustomStringConvertible {
    /// A clause with the wrong text: `its startDate is no date: "today"`.
    /// A clause with the text that is wrong: `its startDate is not a date: "today"`.
    public var description: String { reason.description(of: text) }
}

extension BadRecord.Reason {
    func description(of text: String?) -> String {
        text.map { "\(description): \"\($0)\"" } ?? description
    }
}

extension BadRecord.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .malformed: "it is damaged"
        case .tooLong: "it is longer than a record can be"
        case .missing(let attribute): "it has no \(attribute)"
        case .badDate(let attribute): "its \(attribute) is not a date"
        case .badValue: "its value is not a valid number"
        case .badUnit: "its unit does not fit its kind"
        case .outOfRange: "its date is before 1900 or after 2200"
        case .endsBeforeItStarts: "it ends before it starts"
        case .lastsTooLong: "it lasts longer than a week"
        case .tooManySources: "there are too many sources"
        case .notAnHour: "it is of more than one hour"
        }
    }
}

/// The counts of an export.
public struct ExportCounts: Hashable, Sendable {
    /// The number of bytes of the unpacked file.
    public var bytes: Int64 = 0
    /// The number of records that became samples. Several records can be the same measurement.
    public var samples = 0
    /// The number of records that are not kept: those of other kinds, and the time in bed of sleep.
    public var ignored = 0
    /// The number of records inside a correlation. The file contains each of them a second time
    /// outside.
    public var nested = 0
    public var bad = 0
    /// The first bad records, at most ``maxBadRecords``.
    public var badRecords: [BadRecord] = []
    /// True if the end of the file is missing. The records before the end count.
    public var isCutOff = false

    public static let maxBadRecords = 100

    public var records: Int { samples + ignored + nested + bad }
}
