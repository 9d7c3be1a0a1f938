/// The times that a user of `make demo` waits, from the start of the demo.
struct DemoTimes: Hashable, Sendable, Encodable {
    /// The limits in seconds.
    static let (mostFirstTable, mostPlay) = (10.0, 550.0)

    /// The time of the table of the three clients, in seconds.
    let firstTable: Double
    /// The time of the end of the last journey, in seconds.
    let play: Double
    /// True if the demo plays what `make demo` plays. Another extent takes a different time.
    let isUsual: Bool

    private enum CodingKeys: String, CodingKey { case firstTable, play }

    var slow: [SlowTime] {
        guard isUsual else { return [] }
        return [
            SlowTime("the first table after s", firstTable, limit: Self.mostFirstTable),
            SlowTime("the demo s", play, limit: Self.mostPlay),
        ].compactMap(\.self)
    }
}
