package import TidemarkModel

/// The reads of one device on one day, as its app has stored them in a document.
package struct FleetDay: Hashable, Sendable {
    /// The reads of a screen and a part of the app, for one cause.
    package struct Row: Hashable, Sendable {
        package let screen: String
        package let label: String
        package let cause: String
        package let reads: Int

        package init(screen: String, label: String, cause: String, reads: Int) {
            self.screen = screen
            self.label = label
            self.cause = cause
            self.reads = reads
        }
    }

    /// The name of the collection in which apps store their days, unless they choose another.
    package static let collection = "readDays"

    /// The date in Pacific time, as in `2026-11-28`.
    package let day: String
    /// The app's version.
    package let version: String
    /// The group of users that the app has named; empty for none.
    package let group: String
    /// The number of reads that the device's cache answered without the server.
    package let cached: Int
    /// The price of the reads in US dollars.
    package let dollars: Double
    package let rows: [Row]

    package var reads: Int { rows.reduce(0) { $0 + $1.reads } }

    package init(
        day: String, version: String, group: String, cached: Int, dollars: Double, rows: [Row]
    ) {
        self.day = day
        self.version = version
        self.group = group
        self.cached = cached
        self.dollars = dollars
        self.rows = rows
    }

    /// The newest form of a document that this type reads.
    static let format: Int64 = 1

    /// Reads a document's fields.
    ///
    /// - Returns: Nil if the fields are not a day, or are of a newer form.
    package init?(_ fields: MapValue) {
        guard case .integer(let format)? = fields["format"], (1...Self.format).contains(format),
            case .string(let day)? = fields["day"], case .string(let version)? = fields["version"],
            case .array(let entries)? = fields["rows"]
        else { return nil }
        var rows: [Row] = []
        for entry in entries {
            guard case .map(let row) = entry, case .integer(let reads)? = row["reads"],
                reads >= 0, reads <= Self.most
            else { return nil }
            rows.append(
                Row(
                    screen: row.text("screen"), label: row.text("label"), cause: row.text("cause"),
                    reads: Int(reads)))
        }
        var cached: Int64 = 0
        if case .integer(let number)? = fields["cached"] { cached = min(max(0, number), Self.most) }
        var dollars = 0.0
        if case .double(let price)? = fields["dollars"], price.isFinite { dollars = max(0, price) }
        self.init(
            day: day, version: version, group: fields.text("group"), cached: Int(cached),
            dollars: dollars, rows: rows)
    }

    /// The maximum count in a document. Every sum of counts is an `Int`.
    private static let most: Int64 = 1_000_000_000_000
}

extension MapValue {
    /// Returns the text of a field; empty if it has none.
    fileprivate func text(_ name: String) -> String {
        if case .string(let text)? = self[name] { text } else { "" }
    }
}
