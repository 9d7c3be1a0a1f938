/// Computes the arrival of messages in a direction: the latency and its jitter, the bandwidth, and
/// lost packets that are sent again. The value is pure, and keeps the order of messages.
package struct Pacing: Hashable, Sendable {
    /// The payload of a packet on Ethernet. A loss concerns a single packet.
    static let packetBytes = 1_460

    package var latency = Duration.zero
    /// The maximum deviation of the latency in both directions.
    package var jitter = Duration.zero
    /// The bandwidth in bytes per second; nil for no limit.
    package var bytesPerSecond: Int?
    /// The probability that a packet is lost, 0 to 1.
    package var loss = 0.0
    /// The delay that a lost packet causes for everything behind it.
    package var recovery = Duration.zero

    /// The time at which the line has sent all earlier messages.
    private var busyUntil = Duration.zero
    private var lastArrival = Duration.zero

    package init() {}

    /// - Parameters:
    ///   - bytes: The size of the message.
    ///   - roll: Returns a number in `0 ..< 1`; called once with jitter, and once per packet with
    ///     loss.
    /// - Returns: The time of arrival, on the clock of `now`; never before earlier messages.
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

    /// Changes the properties of the line. Messages under way arrive as before.
    package mutating func change(to other: Pacing) {
        let (busy, last) = (busyUntil, lastArrival)
        self = other
        busyUntil = busy
        lastArrival = last
    }
}
