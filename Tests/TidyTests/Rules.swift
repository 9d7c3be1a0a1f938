import Foundation

/// A pattern that no line may match, and the message for a line that matches.
struct LineRule: Sendable {
    let message: String
    private let pattern: String

    init(_ pattern: String, _ message: String) {
        self.pattern = pattern
        self.message = message
    }

    func violations(in file: Repository.File) -> [Violation] {
        let expression = try! NSRegularExpression(pattern: pattern)
        return file.lines.enumerated().compactMap { index, line in
            let range = NSRange(line.startIndex..., in: line)
            guard expression.firstMatch(in: line, range: range) != nil else { return nil }
            let shown = line.trimmingCharacters(in: .whitespaces)
            return Violation(file: file.path, line: index + 1, text: "\(message): \(shown)")
        }
    }
}

enum Rules {
    /// STYLE's limit for the lines of a file. Generated code is exempt.
    static let maxLines = 600

    private static let declaration = #"\b(class|struct|enum|actor|protocol|typealias)\s+"#
    /// The pattern exempts FirebaseFirestore's own name.
    private static let vague =
        #"(?!PersistentCacheIndexManager\b)\w*(Manager|Helper|Utils|Util|Utilities)\w*"#

    static let vagueNames = LineRule(
        declaration + vague + #"\b"#, "name it for what it does, not Manager, Helper or Utils")
    static let vagueFile = LineRule(
        "^" + vague + #"(\+\w+)?\.swift$"#, "name the file for what it holds")
    static let typeOfTheModulesName = LineRule(
        declaration + #"Tidemark\b"#, "a type named as its module breaks qualified names")
    private static let anySleep = LineRule(
        #"(Thread|Task|ContinuousClock\(\)|SuspendingClock\(\))\s*\.\s*sleep|\b(usleep|nanosleep)\s*\(|(^|[^\w.`])(?<!func )sleep\s*\("#,
        "wait for a fact by `until` or use virtual time, a test must not sleep")

    /// The only place where tests wait for a fact. The wait has a limit, and its failure names the
    /// fact.
    static let waiting = "Tests/TestSupport/Until.swift"

    static func sleeping(in file: Repository.File) -> [Violation] {
        file.path == waiting ? [] : anySleep.violations(in: file)
    }

    /// A test has a limit of 2 minutes, because a test that hangs should fail while a developer
    /// still waits. A longer limit needs its reason in a comment on the line before.
    static func longLimits(in file: Repository.File) -> [Violation] {
        timeLimit.violations(in: file).filter { violation in
            let before = violation.line > 1 ? file.lines[violation.line - 2] : ""
            return !before.trimmingCharacters(in: .whitespaces).hasPrefix("//")
        }
    }

    /// A type with tests is a suite by itself. With the attribute, the compiler expands the macros
    /// of its tests much more slowly: `TidemarkSyncTests` took 87 s, and takes 40 s without.
    static let bareSuite = LineRule(
        #"@Suite\s+(@\w+\s+)*(final\s+)?(struct|class|enum|actor)\b"#,
        "remove @Suite, which is for suites with traits")

    private static let timeLimit = LineRule(
        #"\.timeLimit\(\.minutes\((?!2\)|1\))"#, "say on the line before why a test takes longer")

    static let unfinished = LineRule(
        #"\b(TODO|FIXME|XXX|HACK)\b"#, "finish it, or open an issue")
    static let machinePaths = LineRule(
        #"(^|[^\w./-])/(work|home|Users)/\w"#, "a path of one machine means nothing on another")
    static let googlesProto = LineRule(
        #"(?i)copyright.*google"#, "write the contract yourself, from the facts")

    /// Finds a promise to the compiler without a comment on its line or the line before.
    static func unexplainedUnsafety(in file: Repository.File) -> [Violation] {
        file.lines.enumerated().compactMap { index, line in
            let code = line.components(separatedBy: "//")
            guard
                code[0].contains("@unchecked Sendable") || code[0].contains("nonisolated(unsafe)")
            else { return nil }
            let before = index > 0 ? file.lines[index - 1].trimmingCharacters(in: .whitespaces) : ""
            if code.count > 1 || before.hasPrefix("//") { return nil }
            return Violation(
                file: file.path, line: index + 1,
                text: "say beside it why it is safe: \(line.trimmingCharacters(in: .whitespaces))")
        }
    }
}

/// The imports that each target may have, as in section 2 of ARCHITECTURE. A new line there needs a
/// new line here.
enum ImportRules {
    /// The targets of the project and of other packages. Modules of the toolchain are in `system`.
    static let allowed: [String: Set<String>] = [
        "TidemarkSystem": [],
        "TidemarkModel": [],
        "TidemarkResilience": ["Logging"],
        "TidemarkPatterns": [],
        "TidemarkRules": ["TidemarkModel", "TidemarkPatterns"],
        "TidemarkReads": ["TidemarkModel"],
        "TidemarkPipelines": ["TidemarkModel", "TidemarkPatterns"],
        "TidemarkWords": [],
        "TidemarkStore": ["TidemarkModel", "TidemarkSystem", "CTidemarkSQLite"],
        "TidemarkSync": [
            "TidemarkModel", "TidemarkStore", "TidemarkResilience", "TidemarkWords",
        ],
        "TidemarkWire": [
            "TidemarkModel", "TidemarkResilience", "GRPCCore", "GRPCNIOTransportHTTP2Posix",
            "NIOCore", "NIOHPACK", "NIOHTTP2", "NIOPosix", "CTidemarkZlib",
        ],
        "TidemarkREST": ["TidemarkModel", "TidemarkWire"],
        "TidemarkServer": [
            "TidemarkModel", "TidemarkRules", "TidemarkPipelines", "TidemarkStore",
        ],
        "TidemarkObjects": ["TidemarkModel", "TidemarkStore", "TidemarkSystem", "Crypto"],
        "TidemarkHTTP": [
            "TidemarkModel", "TidemarkObjects", "TidemarkRules", "TidemarkStore", "TidemarkServer",
            "TidemarkREST", "TidemarkResilience",
            "TidemarkSystem", "TidemarkWire", "Hummingbird", "HummingbirdCore", "HummingbirdHTTP2",
            "HTTPTypes", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOSSL", "NIOTLS", "NIOWebSocket",
            "Logging", "JWTKit", "Crypto", "CryptoExtras", "SwiftASN1", "X509",
        ],
        "TidemarkExport": ["TidemarkModel", "TidemarkREST", "TidemarkSystem"],
        "TidemarkConsole": [
            "TidemarkModel", "TidemarkObjects", "TidemarkRules", "TidemarkServer", "TidemarkHTTP",
        ],
        "TidemarkAudit": [
            "TidemarkModel", "TidemarkResilience", "TidemarkWire", "TidemarkHTTPClient",
            "Logging", "CoreMetrics", "ServiceLifecycle",
        ],
        "Tidemark": [
            "TidemarkModel", "TidemarkResilience", "TidemarkStore", "TidemarkSync", "TidemarkWire",
            "TidemarkWords", "Combine", "CoreMetrics", "SwiftUI",
        ],
        "TidemarkLivePipelines": ["Tidemark", "TidemarkPipelines"],
        "TidemarkEncryption": ["TidemarkStore", "TidemarkSync", "Crypto"],
        "TidemarkGoogleAuth": ["TidemarkResilience", "TidemarkHTTPClient", "CryptoExtras"],
        "TidemarkFiles": [
            "TidemarkSystem", "TidemarkResilience", "TidemarkHTTPClient", "Tidemark", "Crypto",
        ],
        "TidemarkMigration": ["TidemarkModel", "TidemarkSystem"],
        "TidemarkHTTPClient": [],
        "TidemarkDiagnosis": [
            "TidemarkModel", "TidemarkResilience", "TidemarkSystem", "TidemarkWire",
            "TidemarkWords", "NIOCore", "NIOPosix", "NIOSSL", "NIOTLS",
        ],
        "TidemarkApp": [
            "Tidemark", "TidemarkHTTPClient", "TidemarkResilience", "TidemarkSystem",
            "TidemarkWords", "TidemarkDiagnosis", "Crypto", "CoreMetrics", "SwiftUI",
            "AuthenticationServices", "BackgroundTasks",
        ],
        "TidemarkHealth": [
            "TidemarkStore", "TidemarkSystem", "TidemarkWords", "CTidemarkSQLite", "CTidemarkZlib",
            "CoreMetrics", "HealthKit",
        ],
        "TidemarkHealthSync": ["Tidemark", "TidemarkApp", "TidemarkHealth"],
        "TidemarkImages": [
            "TidemarkHTTPClient", "TidemarkResilience", "TidemarkWords", "CTidemarkJPEG",
            "CTidemarkPNG", "CTidemarkWebP", "Crypto", "CoreMetrics", "ImageIO", "CoreGraphics",
            "UniformTypeIdentifiers", "SwiftUI",
        ],
        "TidemarkTestKit": ["TidemarkModel", "TidemarkStore"],
        "TidemarkTesting": [
            "TidemarkTestKit", "TidemarkModel", "TidemarkRules",
            "TidemarkStore", "TidemarkSync",
            "TidemarkWire",
            "TidemarkServer", "TidemarkHTTP", "Tidemark",
        ],
        "TidemarkSimulation": [
            "TidemarkModel", "TidemarkStore", "TidemarkSync", "TidemarkServer", "Tidemark",
            "TidemarkApp", "TidemarkTesting", "TidemarkTestKit", "TidemarkLivePipelines",
        ],
        "TidemarkDemo": [
            "TidemarkModel", "TidemarkResilience", "TidemarkRules", "TidemarkWire",
            "TidemarkServer", "TidemarkHTTP", "Tidemark", "TidemarkApp", "TidemarkHealth",
            "TidemarkHealthSync", "TidemarkImages", "TidemarkSystem", "TidemarkTesting",
            "TidemarkTestKit", "TidemarkFiles", "TidemarkObjects", "TidemarkPhones", "ExampleKit",
            "TidemarkLivePipelines", "ChatsCore", "HealthCore",
            "HomesCore",
            "MessagesCore", "StampsCore", "ArgumentParser", "TidemarkHTTPClient",
        ],
        "TidemarkPhones": [
            "TidemarkServer", "TidemarkHTTP", "TidemarkApp", "TidemarkImages", "ExampleKit",
            "ChatsCore", "HealthCore", "HomesCore", "MessagesCore", "StampsCore",
            "ArgumentParser", "NIOCore", "NIOHTTP1", "NIOPosix", "Tidemark", "TidemarkModel",
            "TidemarkTestKit", "TidemarkWire",
        ],
        // The examples import only what an adopter's app imports.
        "ExampleKit": [
            "Tidemark", "TidemarkApp", "TidemarkFiles", "TidemarkImages", "PhotosUI", "SwiftUI",
        ],
        "StampsCore": [
            "ExampleKit", "Tidemark", "TidemarkApp", "TidemarkFiles", "TidemarkImages",
        ],
        "HomesCore": [
            "ExampleKit", "Tidemark", "TidemarkApp", "TidemarkFiles", "TidemarkImages",
        ],
        "FirebaseAuthAdapter": ["FirebaseAuth", "TidemarkApp"],
        "ChatsCore": [
            "ExampleKit", "Tidemark", "TidemarkApp", "TidemarkFiles", "TidemarkImages",
            "TidemarkLivePipelines",
        ],
        "MessagesCore": [
            "ExampleKit", "Tidemark", "TidemarkApp", "TidemarkImages", "TidemarkResilience",
        ],
        "HealthCore": [
            "ExampleKit", "Tidemark", "TidemarkApp", "TidemarkHealth", "TidemarkHealthSync",
        ],
        "TidemarkShow": [
            "TidemarkModel", "TidemarkRules", "TidemarkWire", "TidemarkServer", "TidemarkHTTP",
            "TidemarkConsole", "Tidemark", "TidemarkPhones", "ExampleKit", "ArgumentParser",
            "UnixSignals",
        ],
        // Only the linter uses Swift's own parser.
        "TidemarkLint": ["TidemarkModel", "TidemarkRules", "SwiftParser", "SwiftSyntax"],
        "TidemarkLintCLI": [
            "TidemarkLint", "TidemarkRules", "TidemarkServer", "ArgumentParser",
        ],
        "TidemarkCLI": [
            "TidemarkModel", "TidemarkResilience", "TidemarkRules", "TidemarkStore", "TidemarkWire",
            "TidemarkServer", "TidemarkREST", "TidemarkAudit", "TidemarkHTTP", "TidemarkConsole",
            "TidemarkObjects", "TidemarkExport", "TidemarkReads", "TidemarkDiagnosis",
            "TidemarkGoogleAuth", "TidemarkHealth", "TidemarkMigration", "TidemarkSystem",
            "TidemarkWords", "ArgumentParser", "ServiceLifecycle", "UnixSignals",
            "TidemarkHTTPClient", "Logging", "NIOCore", "NIOHTTP1", "NIOPosix",
        ],
        "TidemarkLab": [
            "TidemarkModel", "Tidemark", "TidemarkFiles", "TidemarkHealth", "TidemarkDemo",
            "TidemarkHTTPClient", "TidemarkPhones", "TidemarkShow", "ArgumentParser",
        ],
    ]

    /// The modules of the toolchain and the system. The model does not use even these.
    static let system: Set<String> = [
        "Foundation", "FoundationEssentials", "FoundationNetworking", "Dispatch", "Synchronization",
        "Glibc", "Musl", "Darwin", "Network", "Observation", "Security", "os",
    ]

    /// Returns the rule of a target. The views of an example app, its `@main` and its view
    /// controllers may import their core and its imports, Apple's frameworks for screens, pictures,
    /// and a server for previews.
    private static func rule(of target: String) -> Set<String>? {
        if let rule = allowed[target] { return rule }
        guard let folder = ["Views", "App", "UIKit"].first(where: target.hasSuffix) else {
            return nil
        }
        let core = target.dropLast(folder.count) + "Core"
        return allowed[String(core)].map {
            $0.union([
                String(core), "SwiftUI", "Charts", "UIKit", "CoreGraphics",
                "AuthenticationServices", "PhotosUI", "TidemarkImages", "TidemarkTesting",
            ])
        }
    }

    static func violations(in file: Repository.File) -> [Violation] {
        guard file.isCode, let target = file.target else { return [] }
        guard var allowed = rule(of: target) else {
            return [Violation(file: file.path, line: 1, text: "no rule for target \(target) yet")]
        }
        if target != "TidemarkModel" { allowed.formUnion(system) }
        return file.lines.enumerated().compactMap { index, line in
            guard let module = module(imported: line), !allowed.contains(module) else { return nil }
            return Violation(
                file: file.path, line: index + 1, text: "\(target) must not import \(module)")
        }
    }

    /// Returns the module that a line imports, with any modifiers before `import` and any kind
    /// after it.
    static func module(imported line: String) -> String? {
        let words = line.split(separator: " ")
        guard let keyword = words.firstIndex(of: "import"), keyword + 1 < words.count else {
            return nil
        }
        let modifiers = ["public", "package", "internal", "private", "fileprivate"]
        guard words[..<keyword].allSatisfy({ $0.hasPrefix("@") || modifiers.contains(String($0)) })
        else { return nil }
        let kinds = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
        var rest = words[(keyword + 1)...]
        if let kind = rest.first, kinds.contains(String(kind)) { rest = rest.dropFirst() }
        return rest.first?.split(separator: ".").first.map(String.init)
    }
}
