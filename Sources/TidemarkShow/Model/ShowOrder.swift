import ExampleKit
import TidemarkPhones

/// An order from the page.
enum ShowOrder: Equatable, Sendable {
    case app(String)
    case launch(PhoneSide)
    case kill(PhoneSide)
    case tap(PhoneSide, String, String)
    case network(Network)
    case airplane
    case others(Int)
    case rate(Int)
    case secondDevice(String)
    case turnClock(Double)
    case users(Int)
    /// Plays the story with this network as its good network.
    case play(on: Network)
    case stop
    case compare
}

/// An order in the page's encoding.
struct OrderForm: Codable, Equatable, Sendable {
    var order: String
    var side: PhoneSide?
    var id: String?
    var text: String?
    var number: Double?

    init(
        _ order: String, side: PhoneSide? = nil, id: String? = nil, text: String? = nil,
        number: Double? = nil
    ) {
        self.order = order
        self.side = side
        self.id = id
        self.text = text
        self.number = number
    }

    /// The maximum length of typed text in bytes.
    static let maxText = 2_000

    /// - Throws: A sentence that explains the error.
    func parsed() throws(OrderError) -> ShowOrder {
        switch order {
        case "app": return .app(try named(id))
        case "launch": return .launch(try phone())
        case "kill": return .kill(try phone())
        case "tap":
            guard (text ?? "").utf8.count <= Self.maxText else {
                throw OrderError("The text is longer than \(Self.maxText) bytes.")
            }
            return .tap(try phone(), try named(id), text ?? "")
        case "network": return .network(try network(named(id)))
        case "airplane": return .airplane
        case "others": return .others(try whole(1...50))
        case "rate": return .rate(try whole(0...600))
        case "second": return .secondDevice(try named(id))
        case "clock": return .turnClock(Double(try whole(1...2_678_400)))
        case "users": return .users(try whole(1...1_000_000_000))
        case "play": return .play(on: try id.map(network) ?? .healthy)
        case "stop": return .stop
        case "compare": return .compare
        default: throw OrderError("There is no command \(order.prefix(40)).")
        }
    }

    private func phone() throws(OrderError) -> PhoneSide {
        guard let side else { throw OrderError("The command \(order) names no phone.") }
        return side
    }

    private func network(_ name: String) throws(OrderError) -> Network {
        guard let network = Network(rawValue: name) else {
            throw OrderError("Unknown network.")
        }
        return network
    }

    private func named(_ value: String?) throws(OrderError) -> String {
        guard let value, !value.isEmpty else {
            throw OrderError("The command \(order) needs a name.")
        }
        return value
    }

    private func whole(_ range: ClosedRange<Int>) throws(OrderError) -> Int {
        guard let number, number.rounded() == number, let value = Int(exactly: number),
            range.contains(value)
        else {
            throw OrderError(
                """
                The command \(order) needs a whole number from \(range.lowerBound) to \
                \(range.upperBound).
                """
            )
        }
        return value
    }
}

struct OrderError: Error, Hashable, Sendable {
    let message: String
    init(_ message: String) { self.message = message }
}
