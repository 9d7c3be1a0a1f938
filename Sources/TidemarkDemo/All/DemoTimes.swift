/// How long somebody waits who types `make demo`, from the start of the demo on.
struct DemoTimes: Hashable, Sendable, Encodable {
    /// Seconds.
    static let (mostFirstTable, mostPlay) = (10.0, 360.0)

    /// When the table of the three clients was there, in seconds.
    let firstTable: Double
    /// When all was played, in seconds.
    let play: Double
    /// Whether this is what `make demo` plays: another extent takes longer, or less.
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
