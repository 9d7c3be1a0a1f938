import TidemarkServer

/// The networks that every scenario is played on.
enum DemoNetwork: String, CaseIterable, Sendable {
    case healthy
    /// 400 ms round trip, 1.6 Mbit/s, and 2 % lost packets.
    case threeG = "3g"
    /// Three of every ten calls of a client fail. The first does its work, is billed, and loses its
    /// answer; the second and the sixth fail before they arrive. The third listen is cut after 20
    /// messages. The order is fixed and not random, so every run is equally hard.
    case failing = "failing-30"
    /// The server is unreachable for at least the first 1.5 s of the app's use.
    case offline = "offline-then-back"

    var profile: NetworkProfile {
        switch self {
        case .healthy, .failing: .healthy
        case .threeG: .threeG
        case .offline: .refuse
        }
    }

    /// The number of calls of one use for which the failures are planned. Later calls do not fail.
    static let plannedCalls = 60

    /// Returns the faults for the calls of one label.
    ///
    /// - Precondition: The label has no comma.
    func faults(label: String) -> [DemoFault] {
        precondition(!label.contains(","))
        guard self == .failing else { return [] }
        let decades = stride(from: 0, to: Self.plannedCalls, by: 10)
        return decades.flatMap { decade in
            [
                DemoFault("label=\(label),nth=\(decade + 1),lose-response", isBilled: true),
                DemoFault("label=\(label),nth=\(decade + 2),error=UNAVAILABLE", isBilled: false),
                DemoFault("label=\(label),nth=\(decade + 6),error=UNAVAILABLE", isBilled: false),
            ]
        } + [DemoFault("rpc=Listen,label=\(label),nth=3,cut=after:20", isBilled: true)]
    }
}

/// A rule of `tidemark serve --fault`.
struct DemoFault: Hashable, Sendable {
    let rule: String
    /// True if the server did and billed the call before its answer was lost.
    let isBilled: Bool

    init(_ rule: String, isBilled: Bool) {
        self.rule = rule
        self.isBilled = isBilled
    }
}
