import Foundation

/// JSON on its way out.
indirect enum JSONOutput: Sendable, Hashable, Encodable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case text(String)
    case list([JSONOutput])
    case object([Member])

    struct Member: Sendable, Hashable {
        let name: String
        let value: JSONOutput

        init(_ name: String, _ value: JSONOutput) {
            self.name = name
            self.value = value
        }
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ text: String) { stringValue = text }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let members):
            var container = encoder.container(keyedBy: Name.self)
            for member in members {
                try container.encode(member.value, forKey: Name(member.name))
            }
        case .list(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(element) }
        default:
            var container = encoder.singleValueContainer()
            switch self {
            case .bool(let flag): try container.encode(flag)
            case .integer(let number): try container.encode(number)
            case .number(let number): try container.encode(number)
            case .text(let text): try container.encode(text)
            default: try container.encodeNil()
            }
        }
    }

    /// - Parameters:
    ///   - isPretty: Whether it is for people: over lines, names in order.
    ///   - isSorted: Whether names are in order on one line.
    func data(isPretty: Bool = false, isSorted: Bool = false) -> Data {
        let encoder = JSONEncoder()
        var formatting: JSONEncoder.OutputFormatting = .withoutEscapingSlashes
        if isPretty { formatting.insert(.prettyPrinted) }
        if isPretty || isSorted { formatting.insert(.sortedKeys) }
        encoder.outputFormatting = formatting
        // Infinite numbers are texts here, so there is nothing that JSON cannot say.
        return (try? encoder.encode(self)) ?? Data("null".utf8)
    }
}
