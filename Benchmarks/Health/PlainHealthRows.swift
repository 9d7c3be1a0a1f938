import CTidemarkSQLite

/// The rows of a health store's file, divided into the transactions that wrote them.
///
/// A row that several transactions have written is in the last of these alone. So plain SQLite
/// writes less than the store does, and never more.
struct PlainHealthRows {
    /// The rows of one transaction. The numbers of all rows of a table are in one list.
    struct Transaction {
        var samples: [Int64] = []
        var hours: [Int64] = []
        var changed: [Int64] = []
        var days: [Day] = []
        var anchor: Anchor?
    }

    struct Day {
        let kind: Int64
        let number: Int64
        let samples: [UInt8]
    }

    struct Anchor {
        let kind: Int64
        let data: [UInt8]
    }

    private(set) var firstDays = Transaction()
    private(set) var pages: [Transaction]

    /// Reads a file with samples of one kind, which were recorded in the order of their times.
    ///
    /// - Parameters:
    ///   - path: The file, in which all pages are stored.
    ///   - start: The second from which on samples were stored first.
    ///   - pageSize: The number of samples in a page.
    ///   - anchors: The anchor of each page.
    init(of path: String, firstDaysFrom start: Int64, pageSize: Int, anchors: [[UInt8]]) {
        let file = PlainFile(path)
        pages = anchors.map { _ in Transaction() }
        // The number of the last transaction that wrote a day's measurements, or an hour.
        var (dayWriters, starts): ([Int64: Int], [(start: Int64, writer: Int)]) = ([:], [])
        var kind: Int64 = 0
        file.read("SELECT id, identity, kind, start, isDeleted FROM sample ORDER BY start") { row in
            kind = row.integer(2)
            let time = row.integer(3)
            let writer = time >= start ? 0 : starts.count / pageSize + 1
            starts.append((time, writer))
            dayWriters[time / 86_400] = max(dayWriters[time / 86_400] ?? 0, writer)
            change(writer) { $0.samples += (0..<5).map(row.integer) }
        }
        file.read("SELECT kind, day, samples FROM measurements ORDER BY day") { row in
            let day = Day(kind: row.integer(0), number: row.integer(1), samples: row.bytes(2))
            change(dayWriters[day.number]!) { $0.days.append(day) }
        }
        var place = 0
        file.read("SELECT * FROM hour ORDER BY start") { row in
            let end = row.integer(2) + 3_600
            var writer = 0
            while place < starts.count, starts[place].start < end {
                writer = max(writer, starts[place].writer)
                place += 1
            }
            change(writer) { $0.hours += (0..<12).map(row.integer) }
        }
        file.read("SELECT day, number FROM changed ORDER BY day") { row in
            // The store numbers its transactions from 1.
            change(Int(row.integer(1)) - 1) { $0.changed += (0..<2).map(row.integer) }
        }
        for (page, data) in anchors.enumerated() {
            pages[page].anchor = Anchor(kind: kind, data: data)
        }
    }

    /// - Parameter writer: 0 for the first days; else the number of the page, from 1.
    private mutating func change(_ writer: Int, _ body: (inout Transaction) -> Void) {
        if writer == 0 { body(&firstDays) } else { body(&pages[writer - 1]) }
    }
}

/// A connection that reads a file's rows.
struct PlainFile {
    private let path: String

    init(_ path: String) { self.path = path }

    struct Row {
        let statement: OpaquePointer

        func integer(_ column: Int) -> Int64 { sqlite3_column_int64(statement, Int32(column)) }

        func bytes(_ column: Int32) -> [UInt8] {
            Array(
                UnsafeRawBufferPointer(
                    start: sqlite3_column_blob(statement, column),
                    count: Int(sqlite3_column_bytes(statement, column))))
        }

        func text(_ column: Int32) -> String {
            sqlite3_column_text(statement, column).map { String(cString: $0) } ?? ""
        }
    }

    /// Calls `body` for each row of a query.
    func read(_ sql: String, _ body: (Row) -> Void) {
        var handle: OpaquePointer?
        precondition(sqlite3_open(path, &handle) == SQLITE_OK)
        defer { sqlite3_close(handle) }
        var statement: OpaquePointer?
        precondition(sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK)
        defer { sqlite3_finalize(statement) }
        while sqlite3_step(statement) == SQLITE_ROW { body(Row(statement: statement!)) }
    }
}
