/// Counts the bursts of an app's network: a phone's radio is on for each of them, and for some
/// seconds after it.
///
/// A burst begins with a byte in either direction after at least ``silence`` without a byte. All
/// bytes until the next such silence belong to it, whatever their number.
struct BurstCount: Hashable, Sendable {
    /// The pause between two bursts. The radio of a mobile network stays on for about as long after
    /// the last byte, so bytes within it do not turn the radio on again.
    static let silence = Duration.seconds(10)

    private(set) var bursts = 0
    private(set) var bytes = 0
    private var last: Duration?

    /// Counts bytes.
    ///
    /// - Parameter time: The time of the bytes; times never decrease.
    mutating func add(_ count: Int, at time: Duration) {
        guard count > 0 else { return }
        if last.map({ time - $0 >= Self.silence }) ?? true { bursts += 1 }
        bytes += count
        last = time
    }

    /// Ends the present burst: the next byte begins another one, as after hours.
    mutating func pause() { last = nil }
}
