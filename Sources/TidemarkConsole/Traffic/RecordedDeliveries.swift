import Synchronization
package import TidemarkServer

/// Records each attempt to deliver an event to a function, beside the calls.
///
/// Deliveries can begin before the ports open. Those before ``attach(_:)`` are not recorded.
package final class RecordedDeliveries: Sendable {
    private let traffic = Mutex<RecordedTransport?>(nil)

    package init() {}

    /// Records from now on in the traffic of a transport.
    package func attach(_ traffic: RecordedTransport) { self.traffic.withLock { $0 = traffic } }

    /// Returns a receiver that calls the same functions, and is recorded.
    package func recording(_ receiver: any EventReceiver) -> any EventReceiver {
        RecordedReceiver(upstream: receiver, deliveries: self)
    }

    fileprivate var attached: RecordedTransport? { traffic.withLock { $0 } }
}

private struct RecordedReceiver: EventReceiver {
    let upstream: any EventReceiver
    let deliveries: RecordedDeliveries

    func reaches(_ trigger: EventTrigger) -> Bool { upstream.reaches(trigger) }

    func deliver(_ event: DocumentEvent, done: @escaping @Sendable (DeliveryAnswer) -> Void) {
        guard let traffic = deliveries.attached else {
            return upstream.deliver(event, done: done)
        }
        let id = traffic.beginDelivery(event)
        upstream.deliver(event) { answer in
            // The end is noted first: a later call is not the function's.
            traffic.endDelivery(id, answer)
            done(answer)
        }
    }
}

/// The event of a delivery.
package struct TrafficEvent: Hashable, Sendable, Codable {
    /// The same for all attempts.
    package let id: String
    package let document: String
    /// The time of the commit, in microseconds since 1970.
    package let time: Int64
}

extension TrafficEntry {
    /// The method of a delivery.
    static let delivery = "Function"

    mutating func end(_ answer: DeliveryAnswer, at time: Int64) {
        duration = time - began
        switch answer {
        case .delivered: outcome = "OK"
        case .failed(let reason): (outcome, message) = ("failed", reason.cut)
        case .refused(let reason): (outcome, message) = ("refused", reason.cut)
        case .unreachable(let reason): (outcome, message) = ("unreachable", reason.cut)
        case .unknownKey:
            (outcome, message) = ("unknown", "The receiver has no function of this key.")
        }
    }
}

/// The entries that belong to one: the commit of a delivery, the deliveries of a commit, and the
/// calls of a function.
struct TrafficRelations: Hashable, Sendable {
    /// The maximum number of entries of each kind.
    static let most = 100

    /// The commit that caused the delivery; nil if it is no longer stored, or is not known.
    private(set) var commit: TrafficEntry?
    /// The deliveries that the commits caused, newest first.
    private(set) var deliveries: [TrafficEntry] = []
    /// The calls that the function seems to have made, newest first.
    private(set) var calls: [TrafficEntry] = []
    /// The delivery during which the call was made.
    private(set) var cause: TrafficEntry?

    init(of entry: TrafficEntry, in log: TrafficLog) {
        cause = entry.links.cause.flatMap { log[$0] }
        if let event = entry.links.event {
            commit =
                log.newest(1) {
                    $0.links.commits.contains(event.time) && $0.database == entry.database
                }.first
            calls = log.newest(Self.most) { $0.links.cause == entry.id }
        }
        if !entry.links.commits.isEmpty {
            let times = Set(entry.links.commits)
            deliveries = log.newest(Self.most) { other in
                other.database == entry.database
                    && other.links.event.map { times.contains($0.time) } == true
            }
        }
    }
}
