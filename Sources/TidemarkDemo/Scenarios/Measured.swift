import Tidemark
import TidemarkModel

/// The results of one use of an app.
struct Measured: Sendable {
    /// The number of reads by the server's meter.
    var reads = 0
    /// The units by the server's meter; zero in a database of the Standard edition.
    var units = BilledUnits()
    /// The bill that was predicted before the use; nil if the row has no prediction.
    var forecast: Forecast?
    /// The number of reads by the device's own meter; nil if no client has a meter.
    var deviceReads: Int?
    var difference = Difference()
    /// The time from the launch to the first items; nil if there were none before the server
    /// answered.
    var firstContent: Duration?
    /// The time from the launch until the screen shows the server's content.
    var upToDate: Duration?
    /// True if the first items appeared before the network was there.
    var hadContentOffline = false
    /// The number of calls that were done and billed and whose answers were lost.
    var lostAnswers = 0
    /// The number of sent and received bytes.
    var bytes = 0
    /// The scenario's other figures, by name.
    var figures: [String: Double] = [:]
    /// The figures that the scenario measures several times, by name.
    var rows: [String: [Double]] = [:]
    /// The error that ended the use early; nil if the use was complete.
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
        if !units.isZero { try container.encode(units, forKey: Key("units")) }
        try container.encodeIfPresent(forecast, forKey: Key("predicted"))
        for (name, figure) in figures { try container.encode(figure, forKey: Key(name)) }
        for (name, row) in rows { try container.encode(row, forKey: Key(name)) }
    }
}
