import TidemarkServer

/// The networks that every scenario is played on.
enum DemoNetwork: String, CaseIterable, Sendable {
    case healthy
    /// 400 ms there and back, 1.6 Mbit/s, 2 % of the packets lost.
    case threeG = "3g"
    /// Of every ten calls of a client three fail: the first when it has done its work, so that it is
    /// billed; the second and the sixth before they arrive. In that order and not by dice, so that the
    /// run that counts is no lucky one.
    case failing = "failing-30"
    /// Nothing is reached until the app has been there for a second and a half.
    case offline = "offline-then-back"

    var profile: NetworkProfile {
        switch self {
        case .healthy, .failing: .healthy
        case .threeG: .threeG
        case .offline: .refuse
        }
    }

    /// Calls of one use of an app whose fate is laid down; those beyond it are left to dice.
    static let plannedCalls = 60

    /// What goes wrong with the calls of one label.
    ///
    /// - Precondition: There is no comma in the label.
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
    /// Whether the call that it applies to was done, and billed, before its answer was lost.
    let isBilled: Bool

    init(_ rule: String, isBilled: Bool) {
        self.rule = rule
        self.isBilled = isBilled
    }
}
