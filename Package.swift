// swift-tools-version: 6.2
import PackageDescription

/// The traits. An app does not resolve the packages of a trait that is off (Decisions/0065).
let (server, lint) = ("Server", "Lint")
/// True for a copy that SwiftPM or Xcode has made for an app, which then has the client alone.
let isDependency = Context.packageDirectory.split(separator: "/").dropLast().last == "checkouts"

/// The packages that this one needs, the products that its targets use, and the trait without which
/// it needs none of them. Decisions/0081 says what each package costs.
let packages: [(name: String, version: Version, products: String, trait: String?)] = [
    ("apple/swift-log", "1.6.0", "Logging", nil),
    ("apple/swift-metrics", "2.7.0", "CoreMetrics MetricsTestKit", nil),
    ("grpc/grpc-swift-2", "2.4.0", "GRPCCore", nil),
    ("grpc/grpc-swift-nio-transport", "2.9.0", "GRPCNIOTransportHTTP2Posix", nil),
    // For the tests of the wire alone. The gRPC library resolves it anyway.
    ("apple/swift-protobuf", "1.39.0", "SwiftProtobuf", nil),
    ("apple/swift-crypto", "4.5.0", "Crypto CryptoExtras", nil),
    ("apple/swift-nio", "2.101.0", "NIOCore NIOHTTP1 NIOPosix NIOTLS NIOWebSocket", nil),
    ("apple/swift-nio-http2.git", "1.46.0", "NIOHPACK NIOHTTP2", nil),
    ("apple/swift-nio-ssl", "2.36.0", "NIOSSL", nil),
    // Only the benchmarks and the tests import this library. Hummingbird resolves it anyway.
    ("swift-server/async-http-client", "1.37.0", "AsyncHTTPClient", server),
    ("swift-server/swift-service-lifecycle", "2.9.0", "ServiceLifecycle UnixSignals", nil),
    (
        "hummingbird-project/hummingbird", "2.28.0",
        "Hummingbird HummingbirdCore HummingbirdHTTP2", server
    ),
    ("vapor/jwt-kit", "5.7.1", "JWTKit", server),
    // Both are packages that jwt-kit and the gRPC library bring anyway.
    ("apple/swift-certificates.git", "1.21.0", "X509", server),
    ("apple/swift-asn1.git", "1.7.0", "SwiftASN1", server),
    ("apple/swift-argument-parser", "1.8.0", "ArgumentParser", server),
    // For the linter alone: nothing else may import it.
    ("swiftlang/swift-syntax", "603.0.1", "SwiftSyntax SwiftParser", lint),
]

/// The targets, from the lowest up, each with the targets and products that it may import. It may
/// import nothing else: `make debug-build` passes `--explicit-target-dependency-import-check error`.
/// Behind a slash is the trait, or the system, without which a dependency is not needed; a plus adds
/// all that another target may import. In debug builds, a target with an exclamation mark has
/// defects, which the World's tests plant to see them found, and one with an asterisk is optimised if
/// `TIDEMARK_OPTIMIZED=1`, as the Makefile sets: 600 Worlds take 19 s, and not 71.
let table = """
    # Libraries
    TidemarkSystem: TidemarkModel*: TidemarkResilience: TidemarkWords: TidemarkHTTPClient:
    TidemarkPatterns*:  TidemarkReads: TidemarkModel
    TidemarkRules!*: TidemarkModel TidemarkPatterns
    TidemarkPipelines!*: TidemarkModel TidemarkPatterns
    TidemarkStore!*: TidemarkSystem TidemarkModel CTidemarkSQLite
    TidemarkSync!*: TidemarkModel TidemarkResilience TidemarkWords TidemarkStore
    TidemarkWire*: TidemarkModel TidemarkResilience CTidemarkZlib GRPCCore
        GRPCNIOTransportHTTP2Posix NIOCore NIOHPACK NIOHTTP2 NIOPosix
    Tidemark*: +TidemarkSync TidemarkWire CoreMetrics
    TidemarkDiagnosis: TidemarkSystem TidemarkModel TidemarkResilience TidemarkWords TidemarkWire
        NIOCore NIOPosix NIOSSL NIOTLS
    TidemarkApp!*: TidemarkSystem TidemarkResilience TidemarkWords TidemarkHTTPClient Tidemark
        TidemarkDiagnosis CoreMetrics Crypto
    TidemarkLivePipelines!*: +Tidemark TidemarkPipelines
    TidemarkEncryption: TidemarkStore TidemarkSync Crypto
    TidemarkImages: TidemarkResilience TidemarkWords TidemarkHTTPClient CTidemarkJPEG/linux
        CTidemarkPNG/linux CTidemarkWebP/linux CoreMetrics Crypto
    TidemarkFiles!: TidemarkSystem TidemarkResilience TidemarkHTTPClient Tidemark Crypto
    TidemarkHealth: +TidemarkStore TidemarkWords CTidemarkZlib CoreMetrics
    TidemarkHealthSync: Tidemark TidemarkApp TidemarkHealth TidemarkREST: TidemarkModel TidemarkWire
    TidemarkServer*: TidemarkModel TidemarkRules TidemarkStore TidemarkPipelines
    TidemarkObjects: TidemarkSystem TidemarkModel TidemarkStore Crypto
    TidemarkHTTP: +TidemarkWire +TidemarkServer TidemarkResilience TidemarkObjects TidemarkSystem
        TidemarkREST Crypto CryptoExtras Hummingbird HummingbirdCore HummingbirdHTTP2 JWTKit Logging
        NIOHTTP1 NIOSSL NIOTLS NIOWebSocket SwiftASN1 X509
    TidemarkExport: TidemarkSystem TidemarkModel TidemarkREST
    TidemarkConsole: TidemarkModel TidemarkRules TidemarkServer TidemarkObjects TidemarkHTTP
    TidemarkAudit: TidemarkModel TidemarkResilience TidemarkWire TidemarkHTTPClient CoreMetrics
        Logging ServiceLifecycle
    TidemarkGoogleAuth: TidemarkResilience TidemarkHTTPClient CryptoExtras
    TidemarkMigration: TidemarkSystem TidemarkModel  TidemarkTestKit*: TidemarkModel TidemarkStore
    TidemarkTesting: +Tidemark TidemarkRules TidemarkServer TidemarkHTTP/Server TidemarkTestKit
    TidemarkSimulation!*: +TidemarkTesting +TidemarkLivePipelines TidemarkApp
    TidemarkLint: TidemarkModel TidemarkRules SwiftParser SwiftSyntax
    # The example apps, on the public API of the products alone
    ExampleKit: Tidemark TidemarkApp TidemarkFiles TidemarkImages
    MessagesCore: +ExampleKit TidemarkResilience  ChatsCore: +ExampleKit TidemarkLivePipelines
    HealthCore: +ExampleKit TidemarkHealth TidemarkHealthSync
    HomesCore: +ExampleKit  StampsCore: +ExampleKit
    # The parts of the program that play the examples, and the programs. A plugin finds tidemark-lint
    # by the name of its target. Benchmarks measures what is `package` and in no product.
    TidemarkPhones: +TidemarkHTTP TidemarkTestKit +StampsCore MessagesCore HealthCore ChatsCore
        HomesCore ArgumentParser
    TidemarkDemo: +TidemarkPhones +TidemarkTesting TidemarkHTTPClient TidemarkHealth
        TidemarkHealthSync TidemarkFiles TidemarkLivePipelines
    TidemarkShow: +TidemarkPhones +TidemarkConsole TidemarkWire Tidemark UnixSignals
    TidemarkLab: +TidemarkDemo +TidemarkShow
    TidemarkCLI: +TidemarkConsole +TidemarkAudit TidemarkReads TidemarkStore TidemarkREST
        TidemarkExport TidemarkGoogleAuth TidemarkMigration TidemarkSystem TidemarkHealth
        TidemarkDiagnosis ArgumentParser NIOPosix UnixSignals
    tidemark-lint: TidemarkLint TidemarkRules TidemarkServer ArgumentParser/Lint
    Benchmarks: +TidemarkTesting +TidemarkApp +TidemarkLivePipelines CTidemarkSQLite TidemarkFiles
        TidemarkEncryption TidemarkHealth ArgumentParser AsyncHTTPClient Hummingbird HummingbirdCore
        Logging NIOCore NIOHTTP1
    # What several targets of tests share. Tests may import TestSupport, and all that the target of
    # their name may import.
    TestSupport:  HTTPTesting: TidemarkHTTP TidemarkObjects TidemarkTesting Hummingbird Logging
    ExampleTesting: +TidemarkTesting ExampleKit
    TidyTests:  TidemarkModelTests:  TidemarkWordsTests:  TidemarkPatternsTests:
    TidemarkRulesTests!:  TidemarkReadsTests:  TidemarkPipelinesTests!: TidemarkTestKit
    TidemarkResilienceTests: TidemarkTestKit NIOCore  TidemarkStoreTests: TidemarkTestKit
    TidemarkSyncTests: +TidemarkSimulation  TidemarkServerTests: TidemarkTestKit TidemarkTesting
    TidemarkWireTests: +TidemarkTesting TidemarkResilience SwiftProtobuf
    TidemarkObjectsTests:  TidemarkConsoleTests: Tidemark  TidemarkExportTests: TidemarkServer
    TidemarkHTTPTests: TidemarkTesting  TidemarkRESTTests: TidemarkServer
    TidemarkAuditTests: +TidemarkTesting  TidemarkMigrationTests: TidemarkServer
    TidemarkTests: +TidemarkTesting TidemarkReads  TidemarkGoogleAuthTests: Tidemark HTTPTesting Hummingbird
    TidemarkLivePipelinesTests!: +TidemarkTesting TidemarkREST
    TidemarkWorldTests!: +TidemarkSimulation TidemarkPipelines
    TidemarkHTTPClientTests: TidemarkResilience NIOCore NIOPosix
    TidemarkAppTests!: +TidemarkCLI +TidemarkDiagnosis +HTTPTesting TidemarkImages TidemarkTestKit
        TidemarkSimulation AsyncHTTPClient CryptoExtras MetricsTestKit
    TidemarkDiskTests!: +TidemarkSimulation CTidemarkSQLite TidemarkEncryption
    TidemarkEncryptionTests: Tidemark TidemarkTesting  TidemarkDemoTests:  TidemarkPhonesTests:
    TidemarkShowTests: TidemarkApp TidemarkTesting StampsCore HomesCore HTTPTesting ExampleTesting
    TidemarkFilesTests!: TidemarkImages TidemarkModel TidemarkStore TidemarkSync TidemarkRules
        TidemarkServer TidemarkObjects TidemarkHTTP TidemarkTesting HTTPTesting Hummingbird
    TidemarkHealthTests: MetricsTestKit  TidemarkHealthSyncTests: TidemarkServer
    TidemarkImagesTests: TidemarkTestKit NIOCore NIOHTTP1 NIOPosix
    MessagesCoreTests: +TidemarkTesting ExampleTesting
    HealthCoreTests: +TidemarkTesting ExampleTesting  TidemarkLintTests: TidemarkServer
    ChatsCoreTests: +TidemarkTesting TidemarkServer TidemarkObjects HTTPTesting ExampleTesting
    ProgramTests: TidemarkCLI TidemarkLab tidemark-lint Benchmarks
    """

/// Files that become parts of a program. Those of `ExampleKit` are links to files of the examples.
let embedded = [
    "TidemarkConsole": """
    Assets: console.css console.js dom.js editor.js forms.js grid.js live.js palette.js
    pipeline.js rules.js stage.js tools.js values.js icon.svg
    """,
    "TidemarkShow": "Assets: show.css show.js player.js",
    "ExampleKit": """
    Rules: chats.rules health.rules homes.rules messages.rules stamps.rules
    messages.indexes.json
    """,
]

/// Every target is built the same way, so that a file can move between them unchanged. CI sets
/// `TIDEMARK_WARNINGS=errors`: a warning in this package, but not in its dependencies, is an error.
let strict = Context.environment["TIDEMARK_WARNINGS"] == "errors"
let settings: [SwiftSetting] =
    [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]
    + ["InternalImportsByDefault", "MemberImportVisibility"].map { .enableUpcomingFeature($0) }
    + (strict ? [.unsafeFlags(["-warnings-as-errors"])] : [])

func split(_ text: String, at separators: String = " \n") -> [String] {
    text.split { separators.contains($0) }.map(String.init)
}

/// Returns the dependency on a target, or on a product of another package.
func dependency(_ text: String) -> Target.Dependency {
    let parts = split(text, at: "/")
    let package = packages.first { split($0.products).contains(parts[0]) }
    let condition = (parts.dropFirst().first ?? package?.trait).flatMap {
        $0 == "linux" ? .when(platforms: [.linux]) : TargetDependencyCondition.when(traits: [$0])
    }
    guard let package else { return .target(name: parts[0], condition: condition) }
    let identity = split(package.name, at: "/.")[1]
    return .product(name: parts[0], package: identity, condition: condition)
}

typealias Row = (name: String, marks: String, imports: [String])

/// The rows of the table.
let rows = table.split(separator: "\n").reduce(into: [Row]()) { rows, line in
    if line.contains("#") { return }
    for var word in split(String(line)) {
        if word.hasSuffix(":") {
            let name = split(word, at: ":!*")[0]
            // The next lines add the target of a test's name to its imports.
            let tested = name.replacing(/Tests$/, with: "")
            let isKnown = rows.contains { $0.name == tested }
            rows.append((name, String(word.dropFirst(name.count)), []))
            guard isKnown else { continue }
            word = "+" + tested
        }
        let other = word.hasPrefix("+") ? rows.first { $0.name == word.dropFirst() } : nil
        let known = Set(rows[rows.count - 1].imports.map { split($0, at: "/")[0] })
        rows[rows.count - 1].imports += (other.map { [$0.name] + $0.imports } ?? [word])
            .filter { !known.contains(split($0, at: "/")[0]) }
    }
}

/// Makes a target of its kind, by its name.
func target(_ name: String, _ needs: [Target.Dependency]) -> Target {
    let path: String? =
        switch name {
        case "ExampleKit": "Examples/Kit"
        case _ where name.hasSuffix("Core"): "Examples/\(name.dropLast(4))/Core"
        case "TestSupport", "HTTPTesting", "ExampleTesting": "Tests/\(name)"
        case "tidemark-lint": "Sources/TidemarkLintCLI"
        case "Benchmarks": name
        default: nil
        }
    let exclude = ["TidemarkLintTests": ["Cases"], "Benchmarks": ["Results"]][name] ?? []
    if name.hasSuffix("Tests") {
        return .testTarget(name: name, dependencies: needs + ["TestSupport"], exclude: exclude)
    }
    return ["TidemarkCLI", "TidemarkLab", "tidemark-lint", "Benchmarks"].contains(name)
        ? .executableTarget(name: name, dependencies: needs, path: path, exclude: exclude)
        : .target(name: name, dependencies: needs, path: path, exclude: exclude)
}

/// A library of the system, by its name for pkg-config and its packages for Debian and Homebrew.
func system(_ name: String, _ pkgConfig: String, apt: String, brew: String? = nil) -> Target {
    .systemLibrary(
        name: "CTidemark" + name, pkgConfig: pkgConfig,
        providers: [.apt([apt])] + (brew.map { [.brew([$0])] } ?? []))
}

let package = Package(
    name: "tidemark",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Tidemark", targets: ["Tidemark", "TidemarkEncryption", "TidemarkWords"]),
        .library(name: "TidemarkApp", targets: ["TidemarkApp"]),
        .library(name: "TidemarkAudit", targets: ["TidemarkAudit", "TidemarkGoogleAuth"]),
        .library(name: "TidemarkFiles", targets: ["TidemarkFiles"]),
        .library(name: "TidemarkHealth", targets: ["TidemarkHealth", "TidemarkWords"]),
        .library(name: "TidemarkHealthSync", targets: ["TidemarkHealthSync"]),
        .library(name: "TidemarkImages", targets: ["TidemarkImages", "TidemarkWords"]),
        .library(name: "TidemarkLivePipelines", targets: ["TidemarkLivePipelines"]),
        .library(name: "TidemarkResilience", targets: ["TidemarkResilience"]),
        .library(name: "TidemarkTesting", targets: ["TidemarkTesting"]),
        .executable(name: "tidemark", targets: ["TidemarkCLI"]),
        .executable(name: "tidemark-lab", targets: ["TidemarkLab"]),
        .executable(name: "tidemark-lint", targets: ["tidemark-lint"]),
        .plugin(name: "TidemarkLintCommand", targets: ["TidemarkLintCommand"]),
        .plugin(name: "TidemarkLintBuild", targets: ["TidemarkLintBuild"]),
    ],
    traits: [
        .trait(name: server, description: "The server over HTTP, and the command line."),
        .trait(name: lint, description: "The linter of an app's Firestore code."),
        .default(enabledTraits: isDependency ? [] : [server, lint]),
    ],
    dependencies: packages.map {
        // Hummingbird's default traits compile swift-configuration, which nothing here uses.
        .package(
            url: "https://github.com/" + $0.name, from: $0.version,
            traits: $0.name.hasPrefix("hummingbird") ? [] : [.defaults])
    },
    targets: [
        system("SQLite", "sqlite3", apt: "libsqlite3-dev", brew: "sqlite3"),
        system("Zlib", "zlib", apt: "zlib1g-dev", brew: "zlib"),
        // The system's decoders of pictures; on Apple's systems ImageIO does it.
        system("JPEG", "libturbojpeg", apt: "libturbojpeg0-dev"),
        system("PNG", "libpng", apt: "libpng-dev"),
        system("WebP", "libwebp", apt: "libwebp-dev"),
        // `swift package tidemark-lint`, and findings at each build.
        .plugin(
            name: "TidemarkLintCommand",
            capability: .command(
                intent: .custom(
                    verb: "tidemark-lint",
                    description: "Find what the package's Firestore code reads without need.")),
            dependencies: ["tidemark-lint"]),
        .plugin(
            name: "TidemarkLintBuild", capability: .buildTool(), dependencies: ["tidemark-lint"]),
    ]
)

for row in rows {
    let target = target(row.name, row.imports.map(dependency))
    target.swiftSettings = settings
    if row.marks.contains("!") {
        target.swiftSettings?.append(.define("TIDEMARK_DEFECTS", .when(configuration: .debug)))
    }
    if row.marks.contains("*"), Context.environment["TIDEMARK_OPTIMIZED"] == "1" {
        let flags = ["-O", "-assert-config", "Debug"]
        target.swiftSettings?.append(.unsafeFlags(flags, .when(configuration: .debug)))
    }
    if let files = embedded[row.name].map({ split($0, at: ": \n") }) {
        target.resources = files.dropFirst().map { .embedInCode("\(files[0])/\($0)") }
    }
    // App Store Connect requires this file of libraries that look at files. Apps are built on a Mac.
    if ["TidemarkStore", "TidemarkImages", "TidemarkFiles", "TidemarkHealth"].contains(row.name) {
        #if os(macOS)
            target.resources = [.copy("PrivacyInfo.xcprivacy")]
        #else
            target.exclude.append("PrivacyInfo.xcprivacy")
        #endif
    }
    package.targets.append(target)
    // Examples/Examples.xcodeproj links the examples. Apps do not see these products.
    if !isDependency, row.name == "ExampleKit" || row.name.hasSuffix("Core") {
        package.products.append(.library(name: row.name, targets: [row.name]))
    }
}

// `TIDEMARK_TESTS=TidemarkAppTests,TidyTests` keeps those test targets alone, so that the test bundle
// links after a change in seconds, and what nothing in it uses is not compiled.
if let kept = Context.environment["TIDEMARK_TESTS"] {
    package.targets.removeAll { $0.type == .test && !split(kept, at: ",").contains($0.name) }
}
