extension ReadMeter {
    /// The name of the collection for ``shareDays(in:version:group:prices:)`` that
    /// `tidemark reads fleet` reads if it is given no other.
    public static let sharedDays = "readDays"

    /// Stores the reads of each finished day in the database, in one small document for each device
    /// and day, so that `tidemark reads fleet` can say which screen costs most. Nothing is shared
    /// without this call. Call it once after each launch.
    ///
    /// ```swift
    /// let days = firestore.collection(ReadMeter.sharedDays)
    /// _ = try await firestore.readMeter.shareDays(in: days, version: "3.2", group: "free")
    /// ```
    ///
    /// A document has the day, the version, the group, and the reads by screen, label and cause: at
    /// most 50 rows. It names neither the user nor the device, and its own name is random and
    /// another on each day. From the first call on, reads that the cache answers are counted too.
    /// Each document costs one write. A kill does not lose or repeat a day.
    ///
    /// - Parameters:
    ///   - collection: The collection of the documents. Its rules need `create` alone.
    ///   - version: The app's version, as in `3.2`.
    ///   - group: A group of users that shall be compared, such as `free`; never a user.
    ///   - prices: The prices of the database's location.
    /// - Returns: The number of days that were stored and will be sent: at most 7 before today.
    /// - Throws: ``FirestoreError`` when the cache cannot be read or written.
    @discardableResult
    public func shareDays(
        in collection: CollectionReference, version: String, group: String = "",
        prices: ReadPrices = .multiRegion
    ) async throws(FirestoreError) -> Int {
        firestore.engine.countCachedReads()
        let book = try await answer { finish in
            firestore.engine.readBook(days: Self.sharedDayCount + 1, completion: finish)
        }
        var log = SharedDayLog(try await record())
        var count = 0
        for day in Set(book.report.rows.map(\.day)).sorted()
        where day < book.today && !log.isSent(day) {
            let id = log.id(of: day) ?? collection.document().documentID
            // The name is stored first, so that a kill repeats the write of the same document.
            log.note(day, id: id, isSent: false)
            try await setRecord(log.bytes)
            let data = SharedDay(
                day, rows: book.report.rows, cached: book.cached[day] ?? 0, prices: prices
            ).data(version: version, group: group)
            _ = try await collection.document(id).enqueueSetData(data)
            log.note(day, id: id, isSent: true)
            try await setRecord(log.bytes)
            count += 1
        }
        return count
    }

    /// The number of days before today that are shared. Older days are dropped.
    private static let sharedDayCount = 7
    private static let recordKey = "readMeter.sharedDays"

    private func record() async throws(FirestoreError) -> [UInt8]? {
        try await answer { finish in
            firestore.engine.record(forKey: Self.recordKey, completion: finish)
        }
    }

    private func setRecord(_ bytes: [UInt8]) async throws(FirestoreError) {
        try await answer { finish in
            firestore.engine.setRecord(bytes, forKey: Self.recordKey) { error in
                finish(error.map { .failure($0) } ?? .success(()))
            }
        }
    }
}

/// The reads of a day in the form of the document.
private struct SharedDay {
    private let day: BillingDay
    private let rows: [ReadRow]
    private let cached: Int
    private let dollars: Double

    /// The maximum number of rows; the cheapest rows beyond it are one row.
    private static let maxRows = 50
    private static let format = 1

    init(_ day: BillingDay, rows: [ReadRow], cached: Int, prices: ReadPrices) {
        self.day = day
        self.cached = cached
        let own = rows.filter { $0.day == day && $0.reads > 0 }.sorted { $1.reads < $0.reads }
        var kept = Array(own.prefix(Self.maxRows - 1))
        let rest = own.dropFirst(Self.maxRows - 1)
        if let first = rest.first {
            kept.append(
                ReadRow(
                    day: day, label: rest.count == 1 ? first.label : "other",
                    screen: rest.count == 1 ? first.screen : "other", cause: first.cause,
                    reads: rest.reduce(0) { $0 + $1.reads }, lowerBounds: 0))
        }
        self.rows = kept
        dollars = prices.cost(ofReads: own.reduce(0) { $0 + $1.reads })
    }

    func data(version: String, group: String) -> [String: Any] {
        [
            "format": Self.format, "day": day.description, "version": version, "group": group,
            "cached": cached, "dollars": dollars,
            "rows": rows.map {
                [
                    "screen": $0.screen, "label": $0.label, "cause": $0.cause.rawValue,
                    "reads": $0.reads,
                ] as [String: Any]
            },
        ]
    }
}

/// The names of the documents of shared days, and whether each was stored: a line of text each.
struct SharedDayLog: Equatable {
    /// The maximum number of days; the oldest are forgotten.
    static let most = 35

    private var days: [Int: (id: String, isSent: Bool)] = [:]

    init(_ bytes: [UInt8]?) {
        for line in String(decoding: bytes ?? [], as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: " ")
            guard parts.count == 3, let day = Int(parts[0]) else { continue }
            days[day] = (String(parts[1]), parts[2] == "1")
        }
    }

    static func == (left: SharedDayLog, right: SharedDayLog) -> Bool { left.bytes == right.bytes }

    func isSent(_ day: BillingDay) -> Bool { days[day.number]?.isSent ?? false }
    func id(of day: BillingDay) -> String? { days[day.number]?.id }

    mutating func note(_ day: BillingDay, id: String, isSent: Bool) {
        days[day.number] = (id, isSent)
        while days.count > Self.most, let oldest = days.keys.min() { days[oldest] = nil }
    }

    var bytes: [UInt8] {
        let lines = days.sorted { $0.key < $1.key }.map { day, entry in
            "\(day) \(entry.id) \(entry.isSent ? 1 : 0)\n"
        }
        return Array(lines.joined().utf8)
    }
}
