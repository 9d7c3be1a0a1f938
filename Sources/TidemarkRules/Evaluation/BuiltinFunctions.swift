import Foundation
import TidemarkModel

/// A call of a function without a receiver, with evaluated arguments.
struct BuiltinCall {
    let builtin: Builtin
    let arguments: [RulesValue]
    let nameStart: Int

    func wrong(_ expected: String) -> RulesFailure {
        let types = arguments.map(\.typeName).joined(separator: ",")
        let name = builtin.rawValue
        return RulesFailure(
            cause: .unsupported(received: "\(name)(\(types))", expected: "\(name)(\(expected))"),
            offset: nameStart)
    }

    func fail(_ text: String) -> RulesFailure {
        RulesFailure(cause: .outOfRange(text), offset: nameStart)
    }

    func number() throws(RulesFailure) -> Double {
        guard arguments.count == 1, let number = arguments[0].number else { throw wrong("number") }
        return number
    }

    func integers(_ count: Int) throws(RulesFailure) -> [Int64] {
        let values = arguments.compactMap { value -> Int64? in
            if case .integer(let number) = value { number } else { nil }
        }
        guard arguments.count == count, values.count == count else {
            throw wrong(Array(repeating: "int", count: count).joined(separator: ","))
        }
        return values
    }
}

/// The functions without a receiver, except those that read documents.
enum BuiltinFunctions {
    static func answer(
        _ call: BuiltinCall, at node: Node, ledger: inout EvaluationLedger
    ) throws(RulesFailure) -> RulesValue {
        let (builtin, arguments) = (call.builtin, call.arguments)
        if builtin == .debug {
            guard arguments.count == 1 else { throw call.wrong("any") }
            return arguments[0]
        }
        if arguments.contains(where: \.isKnowledge) { return .known(Knowledge()) }
        switch builtin {
        // The evaluator handles these functions.
        case .get, .exists, .getAfter, .existsAfter: throw call.wrong("path")
        case .int, .float, .string, .path, .debug: return try convert(call, node)
        case .abs, .ceil, .floor, .round, .sqrt, .pow, .isNaN: return try calculate(call)
        case .crc32, .crc32c, .md5, .sha256:
            let bytes: [UInt8]
            switch arguments.first {
            case .string(let text)? where arguments.count == 1: bytes = Array(text.utf8)
            case .bytes(let contents)? where arguments.count == 1: bytes = contents
            default: throw call.wrong("string or bytes")
            }
            try ledger.use(1 + bytes.count / 4, at: node)
            return .bytes(Digests.digest(builtin, of: bytes))
        case .timestampDate, .timestampValue, .durationValue, .durationTime, .durationAbs,
            .latlngValue:
            return try make(call, node)
        }
    }

    // MARK: Conversions

    private static func convert(_ call: BuiltinCall, _ node: Node) throws(RulesFailure)
        -> RulesValue
    {
        guard call.arguments.count == 1 else { throw call.wrong("any") }
        let value = call.arguments[0]
        switch (call.builtin, value) {
        case (.int, .integer), (.float, .float), (.string, .string): return value
        case (.int, .float(let number)):
            guard let whole = Int64(exactly: number.rounded(.towardZero)) else {
                throw call.fail("Integer overflow error.")
            }
            return .integer(whole)
        case (.int, .string(let text)):
            guard let number = Int64(text), !text.hasPrefix("+") else {
                throw call.fail("Invalid integer: \(text).")
            }
            return .integer(number)
        case (.float, .integer(let number)): return .float(Double(number))
        case (.float, .string(let text)):
            guard let number = Double(text), !text.lowercased().contains("x") else {
                throw call.fail("Invalid float: \(text).")
            }
            return .float(number)
        case (.string, _): return .string(try text(of: value, node, call.nameStart))
        case (.path, .string(let text)):
            if text.contains("$(") { throw call.fail("Invalid path: \(text).") }
            return .path(
                RulesPath(
                    text.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }))
        default: throw call.wrong(call.builtin == .path ? "string" : "number or string")
        }
    }

    /// Returns the text of a value, as `string()` and `join` make it.
    static func text(
        of value: RulesValue, _ node: Node, _ nameStart: Int
    ) throws(RulesFailure) -> String {
        switch value {
        case .string(let text): return text
        case .boolean(let value): return "\(value)"
        case .integer(let value): return "\(value)"
        case .float(let value): return RulesValue.shown(value)
        case .null: return "null"
        case .path(let path): return path.description
        default:
            throw RulesFailure(
                cause: .unsupported(
                    received: "string(\(value.typeName))",
                    expected: "string(bool, int, float, null or path)"), offset: nameStart)
        }
    }

    // MARK: Numbers

    private static func calculate(_ call: BuiltinCall) throws(RulesFailure) -> RulesValue {
        if call.builtin == .pow {
            guard call.arguments.count == 2, let base = call.arguments[0].number,
                let exponent = call.arguments[1].number
            else { throw call.wrong("number,number") }
            return .float(pow(base, exponent))
        }
        let number = try call.number()
        switch call.builtin {
        case .abs:
            guard case .integer(let whole) = call.arguments[0] else { return .float(abs(number)) }
            if whole == .min { throw call.fail("Integer overflow error.") }
            return .integer(abs(whole))
        case .ceil: return .float(number.rounded(.up))
        case .floor: return .float(number.rounded(.down))
        case .round:
            if case .integer = call.arguments[0] { return call.arguments[0] }
            guard let whole = Int64(exactly: (number + 0.5).rounded(.down)) else {
                throw call.fail("Integer overflow error.")
            }
            return .integer(whole)
        case .sqrt: return .float(number < 0 ? .nan : number.squareRoot())
        default: return .boolean(number.isNaN)
        }
    }

    // MARK: Times and places

    private static func make(_ call: BuiltinCall, _ node: Node) throws(RulesFailure) -> RulesValue {
        switch call.builtin {
        case .timestampDate:
            let parts = try call.integers(3)
            guard let day = CalendarDay(year: parts[0], month: parts[1], day: parts[2]) else {
                throw call.fail("Invalid date: \(parts[0])-\(parts[1])-\(parts[2]).")
            }
            return .timestamp(Timestamp(seconds: day.start, nanoseconds: 0))
        case .timestampValue:
            let milliseconds = try call.integers(1)[0]
            guard let time = Timestamp(nanoseconds128: Int128(milliseconds) * 1_000_000) else {
                throw call.fail("Timestamp out of range.")
            }
            return .timestamp(time)
        case .durationTime:
            let parts = try call.integers(4).map { Int128($0) }
            let seconds = parts[0] * 3_600 + parts[1] * 60 + parts[2]
            return try Operators.length(seconds * 1_000_000_000 + parts[3], node)
        case .durationValue: return try unitLength(call, node)
        case .durationAbs:
            guard call.arguments.count == 1, case .duration(let value) = call.arguments[0] else {
                throw call.wrong("duration")
            }
            return try Operators.length(value.total < 0 ? -value.total : value.total, node)
        default: return try point(call)
        }
    }

    private static func unitLength(_ call: BuiltinCall, _ node: Node) throws(RulesFailure)
        -> RulesValue
    {
        guard call.arguments.count == 2, case .integer(let count) = call.arguments[0],
            case .string(let unit) = call.arguments[1]
        else { throw call.wrong("int,string") }
        let units: [String: Int128] = [
            "w": 604_800_000_000_000, "d": 86_400_000_000_000, "h": 3_600_000_000_000,
            "m": 60_000_000_000, "s": 1_000_000_000, "ms": 1_000_000, "ns": 1,
        ]
        guard let nanoseconds = units[unit] else { throw call.fail("Unknown unit: \(unit).") }
        return try Operators.length(Int128(count) * nanoseconds, node)
    }

    private static func point(_ call: BuiltinCall) throws(RulesFailure) -> RulesValue {
        guard call.arguments.count == 2, let latitude = call.arguments[0].number,
            let longitude = call.arguments[1].number
        else { throw call.wrong("number,number") }
        guard GeoPoint.isValid(latitude: latitude, longitude: longitude) else {
            let (a, b) = (RulesValue.shown(latitude), RulesValue.shown(longitude))
            throw call.fail(
                "Latitude should be in [-90,90] range and longitude should be in [-180,180] range. latitude: \(a), longitude: \(b)."
            )
        }
        return .latlng(GeoPoint(latitude: latitude, longitude: longitude))
    }
}
