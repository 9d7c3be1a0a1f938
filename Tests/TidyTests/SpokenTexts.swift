/// Finds the literals of Swift source that read as text, with the call that receives each.
///
/// The reader knows only the syntax that it needs to find them. It is not a parser, and it skips
/// the code inside an interpolation.
struct SpokenTexts {
    struct Literal: Equatable {
        /// The line number, from 1.
        let line: Int
        /// The text as in the source, with a `◌` for each interpolation.
        let text: String
        /// The name before the parenthesis around the literal. It is empty if the braces contain no
        /// call.
        var call = ""
        /// The label before the literal, as in `detail: "…"`.
        var label = ""

        /// True for two words, or for one word with a capital. Keys, names and signs do not match.
        var readsAsText: Bool {
            if text.contains(#/^(\\n|\s)*(SELECT|INSERT|DELETE|UPDATE|CREATE|ALTER|DROP|PRAGMA)\b/#)
            {
                return false
            }
            if text.contains(#/^(\\n|\s)*</#) { return false }
            return text.contains(#/[A-Za-z][a-z']* [a-z◌]/#) || text.contains(#/◌[a-z]* [a-z]/#)
                || text.wholeMatch(of: #/[A-Z][a-z]+[.!]?/#) != nil
        }
    }

    private enum Around {
        case call(String)
        case brackets, braces
    }

    private let source: [UInt8]
    private var place = 0
    private var line = 1
    private var around: [Around] = []
    /// The name that ends at the current place, and the name before a colon.
    private var word = ""
    private var label = ""
    private var found: [Literal] = []

    static func of(_ text: String) -> [Literal] {
        var reader = SpokenTexts(text)
        while reader.place < reader.source.count { reader.step() }
        return reader.found
    }

    private init(_ text: String) { source = Array(text.utf8) }

    private func sees(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard place + count <= source.count else { return false }
        return text.withUTF8Buffer { source[place..<place + count].elementsEqual($0) }
    }

    private mutating func advance(_ count: Int = 1) {
        for _ in 0..<count where place < source.count {
            if source[place] == UInt8(ascii: "\n") { line += 1 }
            place += 1
        }
    }

    private mutating func skip(to end: StaticString, from start: Int) {
        advance(start)
        while place < source.count, !sees(end) { advance() }
        advance(end.utf8CodeUnitCount)
    }

    private mutating func step() {
        let byte = source[place]
        if Self.isOfName(byte) {
            let start = place
            while place < source.count, Self.isOfName(source[place]) { place += 1 }
            word = String(decoding: source[start..<place], as: UTF8.self)
            label = ""
        } else if byte == UInt8(ascii: "/"), sees("//") {
            while place < source.count, source[place] != UInt8(ascii: "\n") { place += 1 }
        } else if byte == UInt8(ascii: "/"), sees("/*") {
            skip(to: "*/", from: 2)
        } else if byte == UInt8(ascii: "#"), sees("#/") {
            skip(to: "/#", from: 2)
        } else if let hashes = hashesOfString() {
            let (line, call, label) = (line, call, label)
            let text = readString(hashes)
            found.append(Literal(line: line, text: text, call: call, label: label))
            (word, self.label) = ("", "")
        } else {
            readSign()
        }
    }

    private mutating func readSign() {
        switch source[place] {
        case UInt8(ascii: "("): around.append(.call(word))
        case UInt8(ascii: "["): around.append(.brackets)
        case UInt8(ascii: "{"): around.append(.braces)
        case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"): _ = around.popLast()
        default: break
        }
        switch source[place] {
        case UInt8(ascii: ":"): label = word
        case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\t"): break
        default: label = ""
        }
        word = ""
        advance()
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 128...:
            true
        default: false
        }
    }

    /// The nearest call around the current place, within the same braces.
    private var call: String {
        for around in around.reversed() {
            switch around {
            case .call(let name) where !name.isEmpty: return name
            case .call, .brackets: continue
            case .braces: return ""
            }
        }
        return ""
    }

    // MARK: Strings

    /// Returns the number of `#` before the string that begins here, or nil if no string begins
    /// here.
    private func hashesOfString() -> Int? {
        let hashes = source[place...].prefix { $0 == UInt8(ascii: "#") }.count
        let quote = place + hashes
        return quote < source.count && source[quote] == UInt8(ascii: "\"") ? hashes : nil
    }

    /// True if `text` is at the current place, followed by `hashes` times `#`.
    private func sees(_ text: StaticString, fencedBy hashes: Int) -> Bool {
        guard sees(text) else { return false }
        let start = place + text.utf8CodeUnitCount
        guard start + hashes <= source.count else { return false }
        return source[start..<start + hashes].allSatisfy { $0 == UInt8(ascii: "#") }
    }

    private mutating func readString(_ hashes: Int) -> String {
        advance(hashes)
        let isLong = sees("\"\"\"")
        advance(isLong ? 3 : 1)
        var text: [UInt8] = []
        while place < source.count {
            if isLong ? sees("\"\"\"", fencedBy: hashes) : sees("\"", fencedBy: hashes) {
                advance((isLong ? 3 : 1) + hashes)
                break
            }
            let next = place + 1 + hashes
            if sees("\\", fencedBy: hashes), next < source.count, source[next] == UInt8(ascii: "(")
            {
                advance(2 + hashes)
                skipInterpolation()
                text += Array("◌".utf8)
                continue
            }
            // An escape may hide a quote.
            let count = hashes == 0 && sees("\\") ? 2 : 1
            text += source[place..<min(place + count, source.count)]
            advance(count)
        }
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func skipInterpolation() {
        var depth = 1
        while depth > 0, place < source.count {
            if let hashes = hashesOfString() {
                _ = readString(hashes)
                continue
            }
            if sees("(") { depth += 1 }
            if sees(")") { depth -= 1 }
            advance()
        }
    }
}

/// Decides which texts are not for the users of an app.
enum UnspokenTexts {
    static let targets: Set = [
        "Tidemark", "TidemarkApp", "TidemarkDiagnosis", "TidemarkHealth", "TidemarkHealthSync",
        "TidemarkImages", "TidemarkSync",
    ]

    /// Calls whose texts are for programmers or for a log, and the call that gives a text its key.
    static let calls: Set = [
        "Sentence",
        // A programmer's mistake.
        "precondition", "preconditionFailure", "fatalError", "assert", "assertionFailure",
        // The log.
        "debug", "fault", "advise",
        // The detail of an error, for the log. Users read the error's sentence instead.
        "FirestoreError", "RPCStatus", "invalidArgument", "unreachable", "failed", "fail",
        // A type that cannot be encoded or decoded.
        "dataCorruptedError", "corrupted", "refuse", "invalid", "decodingIsNotSupported",
        "encodingIsNotSupported", "fieldNameConflict",
        // SQL.
        "RawStatement", "StoreMigration",
    ]

    static let labels: Set = ["debugDescription"]

    /// The other texts, by file, with the exact number and the reason for the missing key. A text
    /// that users read becomes a `Sentence`. A text that they do not read is counted here, where a
    /// reviewer sees it.
    static let counted: [(why: String, texts: [String: Int])] = [
        (
            "an error's detail, for the log",
            [
                "Tidemark/Bundles/StreamedBytes.swift": 1,
                "Tidemark/Client/Firestore+Lifecycle.swift": 2,
                "Tidemark/Client/FirestoreError.swift": 12, "Tidemark/Client/Log.swift": 1,
                "Tidemark/Values/ValueParser.swift": 1,
                "TidemarkApp/Accounts/Client/SecondFactor.swift": 1,
                "TidemarkApp/Accounts/Credentials/KeychainItems.swift": 2,
                "TidemarkApp/Accounts/Shell/LaunchFiles.swift": 3,
                "TidemarkApp/Backfill/HistoryPages.swift": 1,
                "TidemarkApp/Backfill/QueryHistory.swift": 1,
                "TidemarkApp/Ready/OnlineUsers.swift": 1, "TidemarkApp/Ready/UserSearch.swift": 1,
                "TidemarkImages/Decoding/ImageIODecoder.swift": 1,
                "TidemarkImages/Headers/JPEGHeader.swift": 3,
                "TidemarkImages/Headers/PictureHeader.swift": 1,
                "TidemarkSync/Engine/EngineCore.swift": 1,
                "TidemarkSync/Storage/StorageState.swift": 1,
                "TidemarkSync/Transactions/TransactionAttempts.swift": 1,
            ]
        ),
        (
            "a detail that a sentence about a file quotes, for who is asked for help: English",
            [
                "TidemarkHealth/Export/ReadOnlyFile.swift": 1,
                "TidemarkHealth/Export/ZipDirectory.swift": 8,
                "TidemarkHealth/Export/ZipEntryBytes.swift": 8,
                "TidemarkHealth/Import/HealthImport.swift": 1,
                "TidemarkHealth/Import/SpillFile.swift": 1,
                "TidemarkHealth/Store/MeasurementMerge.swift": 1,
                "TidemarkHealth/Store/HealthConnection.swift": 2,
            ]
        ),
        (
            "a report for the makers of an app: what was found on the way, why a record was left out, why a "
                + "plan reads what it reads, what it costs",
            [
                "Tidemark/Indexes/IndexAdvisor.swift": 2,
                "TidemarkDiagnosis/Doctor.swift": 11,
                "TidemarkDiagnosis/NetworkProbe+Security.swift": 6,
                "TidemarkDiagnosis/NetworkProbe+Speech.swift": 5,
                "TidemarkDiagnosis/NetworkProbe.swift": 1,
                "TidemarkHealth/Export/HealthExportError.swift": 11,
                "TidemarkSync/Coverage/ReadPlan.swift": 3,
                "TidemarkSync/Coverage/ReadPlanner.swift": 20,
                "TidemarkSync/Engine/MeasuringScheduler.swift": 1,
                "TidemarkSync/Meter/CostEstimate.swift": 3,
                "TidemarkSync/Meter/ReadLedger.swift": 1,
            ]
        ),
        (
            "a chart of the command line, which names kinds as files do",
            ["TidemarkHealth/Charts/HealthChart.swift": 9]
        ),
        (
            "a word of a format, of a protocol or of another's text, or a name inside the code",
            [
                "Tidemark/Client/FirestoreError+Retry.swift": 1,
                "Tidemark/Codable/CodingKeys.swift": 1,
                "TidemarkApp/Accounts/Shell/AccountJobs+Actions.swift": 1,
                "TidemarkApp/Accounts/Shell/AccountJobs.swift": 1,
                "TidemarkApp/Ready/Rank.swift": 1,
                "TidemarkImages/Decoding/JPEGDecoder.swift": 1,
                "TidemarkImages/HTTP/HTTPFields.swift": 12,
                "TidemarkHealth/Export/ExportScanner.swift": 2,
                "TidemarkHealth/Generator/GeneratedLife.swift": 1,
                "TidemarkHealth/Samples/HealthKind.swift": 2,
                "TidemarkHealth/Samples/HealthSource.swift": 2,
                "TidemarkHealth/Store/HealthSchema.swift": 2,
                "TidemarkHealth/Store/HealthSnapshot.swift": 2,
                "TidemarkSync/Calls/RPCStatus+Retry.swift": 1,
                "TidemarkSync/Calls/RetryTable.swift": 1,
                "TidemarkSync/Local/MutationCodec.swift": 1,
                "TidemarkSync/Sharing/SharedWrite.swift": 1,
            ]
        ),
    ]

    static func isUnspoken(_ literal: SpokenTexts.Literal) -> Bool {
        !literal.readsAsText || calls.contains(literal.call) || labels.contains(literal.label)
    }
}
