import TidemarkModel
import TidemarkPatterns

/// Methods of strings and bytes.
enum TextMethods {
    static func answer(
        _ call: MethodCall, text: String, ledger: inout EvaluationLedger
    ) throws(RulesFailure) -> RulesValue {
        try ledger.use(1 + text.utf8.count / 8, at: call.node)
        switch call.method {
        case .size:
            try call.expectNone()
            return .integer(Int64(text.unicodeScalars.count))
        case .lower:
            try call.expectNone()
            return .string(text.lowercased())
        case .upper:
            try call.expectNone()
            return .string(text.uppercased())
        case .trim:
            try call.expectNone()
            return .string(Self.trimmed(text))
        case .toUtf8:
            try call.expectNone()
            return .bytes(Array(text.utf8))
        case .matches:
            let pattern = try Self.pattern(of: call, try call.string())
            guard let answer = pattern.matchesWhole(text, steps: &ledger.work) else {
                throw RulesFailure(.tooComplex, call.node)
            }
            return .boolean(answer)
        case .split:
            let pattern = try Self.pattern(of: call, try call.string())
            guard let parts = pattern.splitting(text, steps: &ledger.work) else {
                throw RulesFailure(.tooComplex, call.node)
            }
            return .list(parts.map { .string($0) })
        case .replace: return .string(try replaced(call, text: text, ledger: &ledger))
        default: throw call.notFound
        }
    }

    private static func pattern(of call: MethodCall, _ text: String) throws(RulesFailure) -> Pattern
    {
        if let pattern = call.pattern { return pattern }
        do throws(InvalidPattern) {
            return try Pattern(text)
        } catch {
            throw RulesFailure(cause: .badPattern(text), offset: call.nameStart)
        }
    }

    private static func replaced(
        _ call: MethodCall, text: String, ledger: inout EvaluationLedger
    ) throws(RulesFailure) -> String {
        guard call.arguments.count == 2, case .string(let pattern) = call.arguments[0],
            case .string(let replacement) = call.arguments[1]
        else { throw call.wrong(expected: "string,string") }
        let compiled = try Self.pattern(of: call, pattern)
        guard let result = compiled.replacing(in: text, with: replacement, steps: &ledger.work),
            result.utf8.count <= EvaluationLedger.mostElements
        else { throw RulesFailure(.tooComplex, call.node) }
        return result
    }

    /// Returns the text without leading and trailing blanks, as Java's `trim` defines them.
    private static func trimmed(_ text: String) -> String {
        var scalars = text.unicodeScalars[...]
        while let first = scalars.first, first.value <= 0x20 { scalars.removeFirst() }
        while let last = scalars.last, last.value <= 0x20 { scalars.removeLast() }
        return String(scalars)
    }

    static func answer(
        _ call: MethodCall, bytes: [UInt8], ledger: inout EvaluationLedger
    ) throws(RulesFailure) -> RulesValue {
        try ledger.use(1 + bytes.count / 8, at: call.node)
        switch call.method {
        case .size:
            try call.expectNone()
            return .integer(Int64(bytes.count))
        case .toBase64:
            try call.expectNone()
            return .string(RulesBytes.base64(bytes))
        case .toHexString:
            try call.expectNone()
            return .string(RulesBytes.hex(bytes))
        default: throw call.notFound
        }
    }
}

/// The text forms of bytes, as production prints them.
enum RulesBytes {
    private static let hexDigits = Array("0123456789ABCDEF".utf8)
    private static let base64Digits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    static func hex(_ bytes: [UInt8]) -> String {
        let digits = bytes.flatMap { [hexDigits[Int($0 >> 4)], hexDigits[Int($0 & 15)]] }
        return String(decoding: digits, as: UTF8.self)
    }

    /// Returns padded base64 with the URL-safe alphabet.
    static func base64(_ bytes: [UInt8]) -> String {
        var result: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = bytes[start..<min(start + 3, bytes.count)]
            var number = part.reduce(0) { $0 << 8 | Int($1) }
            number <<= 8 * (3 - part.count)
            for index in 0..<4 {
                let digit = base64Digits[number >> (18 - 6 * index) & 63]
                result.append(index <= part.count ? digit : UInt8(ascii: "="))
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
