/// When what is sent now arrives, in one direction: the latency and its jitter, the bandwidth, and the
/// packets that are lost and come again. Pure, and the order of what is sent is kept.
package struct Pacing: Hashable, Sendable {
    /// What a packet carries on Ethernet. A loss concerns one of them.
    static let packetBytes = 1_460

    package var latency = Duration.zero
    /// How far the latency moves either way.
    package var jitter = Duration.zero
    /// Nil for no bound.
    package var bytesPerSecond: Int?
    /// The chance of each packet to be lost, 0 to 1.
    package var loss = 0.0
    /// How long a lost packet holds up what is behind it.
    package var recovery = Duration.zero

    /// When the line has taken up what was sent before.
    private var busyUntil = Duration.zero
    private var lastArrival = Duration.zero

    package init() {}

    /// - Parameters:
    ///   - bytes: The size of what is sent.
    ///   - roll: In `0 ..< 1`; asked once with jitter, and once a packet with loss.
    /// - Returns: When it arrives, on the same clock as `now`; never before what was sent earlier.
    package mutating func arrival(
        of bytes: Int, at now: Duration, holding: Duration = .zero, _ roll: () -> Double
    ) -> Duration {
        var sent = max(now, busyUntil)
        if let bytesPerSecond {
            sent += .seconds(Double(bytes) / Double(max(1, bytesPerSecond)))
        }
        if loss > 0 {
            let packets = max(1, (bytes + Self.packetBytes - 1) / Self.packetBytes)
            for _ in 0..<packets where roll() < loss { sent += recovery }
        }
        busyUntil = sent
        var delay = latency + holding
        if jitter > .zero { delay += jitter * (2 * roll() - 1) }
        lastArrival = max(lastArrival, sent + max(.zero, delay))
        return lastArrival
    }

    /// The same line with other properties: what is under way arrives as it would have.
    package mutating func change(to other: Pacing) {
        let (busy, last) = (busyUntil, lastArrival)
        self = other
        busyUntil = busy
        lastArrival = last
    }
}
