import TidemarkModel

/// The reason why a text or a JSON object is no rule, as a sentence.
public struct FaultRuleError: Error, Hashable, Sendable, CustomStringConvertible {
    public let message: String
    public var description: String { message }

    public init(_ message: String) { self.message = message }
}

extension FaultRule {
    /// The keys, for example in `rpc=Commit,share=0.3,error=UNAVAILABLE`.
    public static let grammar = """
        which calls: rpc=NAME, label=TEXT, share=0..1, every=N, nth=N, times=N; what happens: \
        latency=400ms, jitter=100ms, bandwidth=BYTES_A_SECOND, error=CODE, silence, cut=before:N, \
        cut=after:N, lose-response; of Listen: drop-tokens, reset or reset=BOUNDARY, false-filter or \
        false-filter=N, delay-current=2s, duplicate; and at the end text=THE ERROR'S TEXT
        """

    /// - Throws: A sentence about the error in the text.
    public init(_ text: String) throws(FaultRuleError) {
        var fields: [(key: String, value: String?)] = []
        var rest = Substring(text)
        while !rest.isEmpty {
            // A text can contain commas, so it must be the last key.
            let isText = rest.hasPrefix("text=")
            let end = isText ? rest.endIndex : rest.firstIndex(of: ",") ?? rest.endIndex
            let part = rest[..<end]
            rest = rest[end...].dropFirst()
            let key = part.prefix { $0 != "=" }
            let value = key.endIndex == part.endIndex ? nil : part[key.endIndex...].dropFirst()
            fields.append((Self.trimmed(key), value.map { isText ? String($0) : Self.trimmed($0) }))
        }
        try self.init(fields: fields)
    }

    private static func trimmed(_ text: Substring) -> String {
        let start = text.drop { $0 == " " }
        return String(start.reversed().drop { $0 == " " }.reversed())
    }

    /// - Parameter fields: Keys of ``grammar`` with their values; nil for the value of a key
    ///   without a value.
    public init(fields: [(key: String, value: String?)]) throws(FaultRuleError) {
        self.init()
        var seen: Set<String> = []
        var text: String?
        for field in fields {
            guard seen.insert(field.key).inserted else {
                throw FaultRuleError("A fault names \(Self.quoted(field.key)) twice.")
            }
            let reader = FieldReader(key: field.key, value: field.value)
            if field.key == "text" {
                text = try reader.text()
            } else if try !readSelection(reader), try !readEffect(reader) {
                throw FaultRuleError(
                    """
                    Unknown part of a fault: \(Self.quoted(field.key)). A fault can have \
                    \(Self.grammar).
                    """)
            }
        }
        if let text {
            guard let code = effects.error?.code else {
                throw FaultRuleError("A fault with text= also needs error=.")
            }
            effects.error = RPCStatus(code, text)
        }
        try check(seen)
    }

    private mutating func readSelection(_ field: FieldReader) throws(FaultRuleError) -> Bool {
        switch field.key {
        case "rpc": method = try field.method()
        case "label": label = try field.text()
        case "share": selection = .share(try field.share())
        case "every": selection = .every(try field.count())
        case "nth": selection = .nth(try field.count())
        case "times": times = try field.count()
        default: return false
        }
        return true
    }

    private mutating func readEffect(_ field: FieldReader) throws(FaultRuleError) -> Bool {
        switch field.key {
        case "latency": effects.latency = try field.duration()
        case "jitter": effects.jitter = try field.duration()
        case "bandwidth": effects.bytesPerSecond = try field.count()
        case "error": effects.error = try field.status()
        case "silence": effects.isSilent = try field.flag()
        case "cut": effects.cut = try field.cut()
        case "drop-tokens": effects.dropsTokens = try field.flag()
        case "reset": effects.resetAtBoundary = try field.count(or: 1)
        case "false-filter": effects.filterError = try field.count(or: 1)
        case "delay-current": effects.currentDelay = try field.duration()
        case "lose-response": effects.losesResponse = try field.flag()
        case "duplicate": effects.duplicates = try field.flag()
        default: return false
        }
        return true
    }

    private func check(_ seen: Set<String>) throws(FaultRuleError) {
        if seen.intersection(["share", "every", "nth"]).count > 1 {
            throw FaultRuleError("A fault can have only one of share=, every= and nth=.")
        }
        if effects.jitter > .zero, effects.latency == nil {
            throw FaultRuleError("A fault with jitter= also needs latency=.")
        }
        if effects == FaultEffects() {
            throw FaultRuleError("A fault must say what happens: \(Self.grammar).")
        }
        let ofListen = ["drop-tokens", "reset", "false-filter", "delay-current", "duplicate"]
        if let method, method != .listen, let key = ofListen.first(where: seen.contains) {
            throw FaultRuleError("\(key) is for Listen; \(method.rawValue) does not support it.")
        }
    }

    fileprivate static func quoted(_ text: String) -> String { "\"\(text.prefix(100))\"" }
}

/// Reads a `key=value` according to its key.
private struct FieldReader {
    let key: String
    let value: String?

    private func refusal(_ wanted: String) -> FaultRuleError {
        let got = value.map { ", not \(FaultRule.quoted($0))" } ?? ""
        return FaultRuleError("A fault's \(key) is \(wanted)\(got).")
    }

    func text() throws(FaultRuleError) -> String {
        guard let value, !value.isEmpty else { throw refusal("a text") }
        return value
    }

    func flag() throws(FaultRuleError) -> Bool {
        guard value == nil || value == "true" else { throw refusal("given without a value") }
        return true
    }

    func count(or missing: Int? = nil) throws(FaultRuleError) -> Int {
        guard let value else {
            guard let missing else { throw refusal("a whole number from 1") }
            return missing
        }
        guard let count = Int(value), count >= 1 else { throw refusal("a whole number from 1") }
        return count
    }

    func share() throws(FaultRuleError) -> Double {
        guard let value, let share = Double(value), (0...1).contains(share) else {
            throw refusal("a number from 0 to 1")
        }
        return share
    }

    /// Reads a duration of at most an hour: use silence for more.
    func duration() throws(FaultRuleError) -> Duration {
        let units: [(String, Double)] = [("ms", 1_000), ("s", 1)]
        for (unit, perSecond) in units {
            guard let value, value.hasSuffix(unit) else { continue }
            guard let number = Double(value.dropLast(unit.count)) else { break }
            let seconds = number / perSecond
            if (0...3_600).contains(seconds) { return .seconds(seconds) }
        }
        throw refusal("a time as in 400ms or 1.5s, at most an hour")
    }

    func method() throws(FaultRuleError) -> RPCMethod {
        let methods = RPCMethod.allCases
        guard let method = methods.first(where: { $0.rawValue == value }) else {
            let names = methods.map(\.rawValue).joined(separator: ", ")
            throw refusal("one of \(names)")
        }
        return method
    }

    func status() throws(FaultRuleError) -> RPCStatus {
        guard let value, let code = RPCStatus.Code(wireName: value), code != .ok else {
            let names = RPCStatus.Code.allCases.dropFirst().map(\.wireName)
            throw refusal("one of \(names.joined(separator: ", "))")
        }
        return RPCStatus(code, "This is a simulated fault.")
    }

    func cut() throws(FaultRuleError) -> FaultEffects.Cut {
        let parts = (value ?? "").split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let count = Int(parts[1]), count >= 1,
            parts[0] == "before" || parts[0] == "after"
        else { throw refusal("before:N or after:N, with N from 1") }
        return parts[0] == "before" ? .before(count) : .after(count)
    }
}

extension FaultRule: CustomStringConvertible {
    /// The rule in its own grammar, which ``init(_:)`` can read.
    public var description: String {
        var parts: [String] = []
        if let method { parts.append("rpc=\(method.rawValue)") }
        if let label { parts.append("label=\(label)") }
        switch selection {
        case .all: break
        case .share(let share): parts.append("share=\(share)")
        case .every(let count): parts.append("every=\(count)")
        case .nth(let count): parts.append("nth=\(count)")
        }
        if let times { parts.append("times=\(times)") }
        return (parts + effects.parts).joined(separator: ",")
    }
}

extension FaultEffects {
    fileprivate var parts: [String] {
        var parts: [String] = []
        if let latency { parts.append("latency=\(latency.inMilliseconds)") }
        if jitter > .zero { parts.append("jitter=\(jitter.inMilliseconds)") }
        if let bytesPerSecond { parts.append("bandwidth=\(bytesPerSecond)") }
        if isSilent { parts.append("silence") }
        switch cut {
        case .before(let count)?: parts.append("cut=before:\(count)")
        case .after(let count)?: parts.append("cut=after:\(count)")
        case nil: break
        }
        if dropsTokens { parts.append("drop-tokens") }
        if let resetAtBoundary { parts.append("reset=\(resetAtBoundary)") }
        if let filterError { parts.append("false-filter=\(filterError)") }
        if let currentDelay { parts.append("delay-current=\(currentDelay.inMilliseconds)") }
        if losesResponse { parts.append("lose-response") }
        if duplicates { parts.append("duplicate") }
        if let error {
            parts.append("error=\(error.code.wireName)")
            parts.append("text=\(error.message)")
        }
        return parts
    }
}

extension Duration {
    fileprivate var inMilliseconds: String {
        let (seconds, attoseconds) = components
        return "\(Double(seconds) * 1_000 + Double(attoseconds) / 1e15)ms"
    }
}
