/// How long somebody has waited who has typed `make demo`, from the start of the demo on.
struct DemoTimes: Hashable, Sendable, Encodable {
    /// Seconds.
    static let (mostFirstTable, mostPlay) = (10.0, 360.0)

    /// When the table of the three clients was there, in seconds.
    let firstTable: Double
    /// When all was played, in seconds.
    let play: Double
    /// Whether they are held to the most that they may be.
    let isJudged: Bool

    /// Sentences; none when both hold, or are not judged.
    var complaints: [String] {
        guard isJudged else { return [] }
        var complaints: [String] = []
        if firstTable > Self.mostFirstTable {
            complaints.append(
                "The first table came after \(Bar.number(firstTable)) s, and "
                    + "\(Bar.number(Self.mostFirstTable)) s are the most.")
        }
        if play > Self.mostPlay {
            complaints.append(
                "The demo took \(Bar.number(play)) s, and \(Bar.number(Self.mostPlay)) s are the most."
            )
        }
        return complaints
    }
}
