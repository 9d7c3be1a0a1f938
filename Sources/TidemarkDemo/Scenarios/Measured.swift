/// What one use of an app came to.
struct Measured: Sendable {
    /// By the server's meter.
    var reads = 0
    /// By the device's own meter; nil where no client has one.
    var deviceReads: Int?
    var difference = Difference()
    /// From the launch to the first items; nil when there were none before the server answered.
    var firstContent: Duration?
    /// From the launch to what the server has.
    var upToDate: Duration?
    /// Whether the first items were there before the network was.
    var hadContentOffline = false
    /// Calls that were done and billed and whose answers were lost.
    var lostAnswers = 0
    /// Sent and received.
    var bytes = 0
    /// What this scenario also measures, by name.
    var figures: [String: Double] = [:]
    /// What it measures again and again, by name.
    var rows: [String: [Double]] = [:]
    /// Why it did not come to an end.
    var failure: String?
}

extension Measured: Encodable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { nil }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        let counts = [
            "reads": reads, "missed": difference.missed.count,
            "doubled": difference.doubled.count, "editsMissed": difference.outdated.count,
            "deletedShown": difference.deletedShown.count, "lostAnswers": lostAnswers,
            "bytes": bytes,
        ]
        for (name, count) in counts { try container.encode(count, forKey: Key(name)) }
        try container.encodeIfPresent(deviceReads, forKey: Key("readsByDevice"))
        try container.encodeIfPresent(firstContent?.milliseconds, forKey: Key("firstContentMs"))
        try container.encodeIfPresent(upToDate?.milliseconds, forKey: Key("upToDateMs"))
        try container.encodeIfPresent(failure, forKey: Key("failure"))
        for (name, figure) in figures { try container.encode(figure, forKey: Key(name)) }
        for (name, row) in rows { try container.encode(row, forKey: Key(name)) }
    }
}
