// swift-tools-version: 6.2
import PackageDescription

/// With `TIDEMARK_WARNINGS=errors`, as in CI, a warning in this package fails the build. A warning
/// in a dependency never does.
let strict: [SwiftSetting] = [.unsafeFlags(["-warnings-as-errors"])]

/// The settings of every target. They are the same, so a file can move between targets unchanged.
let settings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ] + (Context.environment["TIDEMARK_WARNINGS"] == "errors" ? strict : [])

/// The traits that determine the packages an app must resolve (Decisions/0065). The packages of a
/// disabled trait are not resolved.
let (server, lint) = ("Server", "Lint")
/// True if this is a copy that SwiftPM or Xcode made for an app. Such a copy has only the client by
/// default.
let isDependency = Context.packageDirectory.split(separator: "/").dropLast().last == "checkouts"

/// Returns a product of a package that only a trait needs.
func product(_ name: String, _ package: String, _ trait: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: [trait]))
}

let sqlite = Target.Dependency.target(name: "CTidemarkSQLite")
let metrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")
let metricsTestKit = Target.Dependency.product(name: "MetricsTestKit", package: "swift-metrics")
let log = Target.Dependency.product(name: "Logging", package: "swift-log")
let grpcCore = Target.Dependency.product(name: "GRPCCore", package: "grpc-swift-2")
let grpcHTTP2 = Target.Dependency.product(
    name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport")
let protobuf = Target.Dependency.product(name: "SwiftProtobuf", package: "swift-protobuf")
let hummingbird = product("Hummingbird", "hummingbird", server)
let hummingbirdCore = product("HummingbirdCore", "hummingbird", server)
let hummingbirdHTTP2 = product("HummingbirdHTTP2", "hummingbird", server)
let arguments = product("ArgumentParser", "swift-argument-parser", server)
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioHTTP2 = Target.Dependency.product(name: "NIOHTTP2", package: "swift-nio-http2")
let nioHPACK = Target.Dependency.product(name: "NIOHPACK", package: "swift-nio-http2")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let nioTLS = Target.Dependency.product(name: "NIOTLS", package: "swift-nio")
let nioWebSocket = Target.Dependency.product(name: "NIOWebSocket", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let jwtKit = product("JWTKit", "jwt-kit", server)
// The packages of these two products are also dependencies of jwt-kit and the gRPC library.
let x509 = product("X509", "swift-certificates", server)
let asn1 = product("SwiftASN1", "swift-asn1", server)
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let serviceLifecycle = Target.Dependency.product(
    name: "ServiceLifecycle", package: "swift-service-lifecycle")
let unixSignals = Target.Dependency.product(
    name: "UnixSignals", package: "swift-service-lifecycle")
// Only the linter may import these.
let syntax = product("SwiftSyntax", "swift-syntax", lint)
let parser = product("SwiftParser", "swift-syntax", lint)
/// The argument parser of the linter, which does not need the trait of the server.
let lintArguments = product("ArgumentParser", "swift-argument-parser", lint)
let httpClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")

/// Defects that the World's tests plant to check that they are found. Release builds have none.
let planted: [SwiftSetting] = [.define("TIDEMARK_DEFECTS", .when(configuration: .debug))]

/// Returns a target of the library. It may import only its listed dependencies: `make debug-build`
/// passes `--explicit-target-dependency-import-check error`.
func library(
    _ name: String, _ dependencies: [Target.Dependency] = [], _ extra: [SwiftSetting] = []
) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings + extra)
}

func tests(
    _ name: String, _ dependencies: [Target.Dependency], _ extra: [SwiftSetting] = []
) -> Target {
    .testTarget(
        name: name, dependencies: dependencies + ["TestSupport"], swiftSettings: settings + extra)
}

/// Returns the core of an example app, which uses only the public API of the products:
/// `Examples/Stamps/Core`.
func example(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(
        name: name + "Core", dependencies: ["ExampleKit", "Tidemark"] + dependencies,
        path: "Examples/\(name)/Core", swiftSettings: settings)
}

/// Returns the system's decoder of a picture format.
func decoder(_ format: String) -> Target.Dependency {
    .target(name: "CTidemark" + format, condition: .when(platforms: [.linux]))
}

let package = Package(
    name: "tidemark",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Tidemark", targets: ["Tidemark"]),
        .library(name: "TidemarkApp", targets: ["TidemarkApp"]),
        .library(name: "TidemarkAudit", targets: ["TidemarkAudit"]),
        .library(name: "TidemarkEncryption", targets: ["TidemarkEncryption"]),
        .library(name: "TidemarkGoogleAuth", targets: ["TidemarkGoogleAuth"]),
        .library(name: "TidemarkHealth", targets: ["TidemarkHealth"]),
        .library(name: "TidemarkHealthSync", targets: ["TidemarkHealthSync"]),
        .library(name: "TidemarkImages", targets: ["TidemarkImages"]),
        .library(name: "TidemarkResilience", targets: ["TidemarkResilience"]),
        .library(name: "TidemarkTesting", targets: ["TidemarkTesting"]),
        .library(name: "TidemarkWords", targets: ["TidemarkWords"]),
        .executable(name: "tidemark", targets: ["TidemarkCLI"]),
        .executable(name: "tidemark-lint", targets: ["tidemark-lint"]),
        .plugin(name: "TidemarkLintCommand", targets: ["TidemarkLintCommand"]),
        .plugin(name: "TidemarkLintBuild", targets: ["TidemarkLintBuild"]),
    ],
    traits: [
        .trait(
            name: server,
            description: "The server over HTTP, its accounts in tests, and the command line."),
        .trait(name: lint, description: "The linter of an app's Firestore code."),
        .default(enabledTraits: isDependency ? [] : [server, lint]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.7.0"),
        .package(url: "https://github.com/grpc/grpc-swift-2", from: "2.4.0"),
        .package(url: "https://github.com/grpc/grpc-swift-nio-transport", from: "2.9.0"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.36.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
        .package(url: "https://github.com/apple/swift-certificates.git", from: "1.21.0"),
        .package(url: "https://github.com/apple/swift-asn1.git", from: "1.7.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.9.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
    ],
    targets: [
        // TidemarkSystem has the C library under one name, and calls that differ between systems.
        library("TidemarkSystem"),
        library("TidemarkModel"),
        library("TidemarkResilience"),
        library("TidemarkRules", ["TidemarkModel"], planted),
        // TidemarkWords has the sentences for people, for all targets that show texts.
        library("TidemarkWords"),
        // The system's SQLite.
        .systemLibrary(
            name: "CTidemarkSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite3"])]),
        library("TidemarkStore", ["TidemarkModel", "TidemarkSystem", sqlite], planted),
        library(
            "TidemarkSync",
            ["TidemarkModel", "TidemarkStore", "TidemarkResilience", "TidemarkWords"], planted),
        library(
            "TidemarkWire",
            [
                "TidemarkModel", "CTidemarkZlib", grpcCore, grpcHTTP2, nioCore, nioHPACK, nioHTTP2,
                nioPosix, protobuf,
            ]),
        // TidemarkREST has Firestore's calls over HTTP/1.1, REST and WebChannel, without sockets.
        library("TidemarkREST", ["TidemarkModel", "TidemarkWire"]),
        library("TidemarkServer", ["TidemarkModel", "TidemarkRules", "TidemarkStore"]),
        library(
            "TidemarkHTTP",
            [
                "TidemarkModel", "TidemarkRules", "TidemarkStore", "TidemarkServer", "TidemarkREST",
                "TidemarkSystem", "TidemarkWire", hummingbird, hummingbirdCore, hummingbirdHTTP2,
                log,
                nioCore, nioHTTP1, nioPosix, nioSSL, nioTLS, nioWebSocket, jwtKit, crypto,
                cryptoExtras, x509, asn1,
            ]),
        // TidemarkExport reads and writes the official form of exports.
        library("TidemarkExport", ["TidemarkModel", "TidemarkREST", "TidemarkSystem"]),
        // TidemarkConsole has pages that show the server's data, its calls and their cost.
        .target(
            name: "TidemarkConsole",
            dependencies: [
                "TidemarkModel", "TidemarkRules", "TidemarkServer", "TidemarkHTTP",
            ],
            resources: [
                .embedInCode("Assets/console.css"), .embedInCode("Assets/console.js"),
                .embedInCode("Assets/dom.js"), .embedInCode("Assets/editor.js"),
                .embedInCode("Assets/forms.js"), .embedInCode("Assets/grid.js"),
                .embedInCode("Assets/live.js"), .embedInCode("Assets/palette.js"),
                .embedInCode("Assets/rules.js"),
                .embedInCode("Assets/stage.js"), .embedInCode("Assets/tools.js"),
                .embedInCode("Assets/values.js"), .embedInCode("Assets/icon.svg"),
            ],
            swiftSettings: settings),
        library(
            "TidemarkAudit",
            [
                "TidemarkModel", "TidemarkResilience", log, metrics, httpClient, nioCore, nioHTTP1,
                serviceLifecycle,
            ]),
        library(
            "Tidemark",
            [
                "TidemarkModel", "TidemarkResilience", "TidemarkStore", "TidemarkSync",
                "TidemarkWire", "TidemarkWords", metrics,
            ]),
        // TidemarkEncryption encrypts a cache. It is separate, so clients without encryption do not
        // compile it.
        library("TidemarkEncryption", ["TidemarkStore", "TidemarkSync", crypto]),
        // TidemarkGoogleAuth makes tokens of service accounts. It is separate, because a phone does
        // not need it.
        library(
            "TidemarkGoogleAuth",
            ["TidemarkResilience", cryptoExtras, httpClient, nioCore, nioHTTP1]),
        library(
            "TidemarkApp",
            [
                "Tidemark", "TidemarkResilience", "TidemarkSystem", "TidemarkWords", crypto,
                httpClient, metrics, nioCore,
                nioHTTP1, nioPosix, nioSSL, nioTLS,
            ], planted),
        // CTidemarkZlib is the system's zlib, for zips.
        .systemLibrary(
            name: "CTidemarkZlib", pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        // TidemarkHealth uses nothing of the client, so an import compiles and starts without a
        // network.
        // Of Tidemark it needs the store's statements alone, so that an import compiles and starts
        // without a network.
        library(
            "TidemarkHealth",
            [
                "TidemarkStore", "TidemarkSystem", "TidemarkWords", "CTidemarkZlib", sqlite,
                metrics,
            ]),
        library("TidemarkHealthSync", ["Tidemark", "TidemarkApp", "TidemarkHealth"]),
        // These are the system's decoders of pictures. Apple's systems use ImageIO instead.
        .systemLibrary(
            name: "CTidemarkJPEG", pkgConfig: "libturbojpeg",
            providers: [.apt(["libturbojpeg0-dev"])]),
        .systemLibrary(
            name: "CTidemarkPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
        .systemLibrary(
            name: "CTidemarkWebP", pkgConfig: "libwebp", providers: [.apt(["libwebp-dev"])]),
        library(
            "TidemarkImages",
            ["TidemarkResilience", "TidemarkWords", decoder("JPEG"), decoder("PNG")]
                + [decoder("WebP"), crypto, httpClient, metrics, nioCore, nioHTTP1]),
        // A clock, an oracle of queries, a disk that fails and a scripted server, on the lowest
        // targets alone, so that their tests compile nothing else.
        library("TidemarkTestKit", ["TidemarkModel", "TidemarkStore"]),
        library(
            "TidemarkTesting",
            [
                "TidemarkTestKit", "TidemarkModel", "TidemarkResilience", "TidemarkRules",
                "TidemarkStore",
                "TidemarkSync", "TidemarkWire", "TidemarkServer", "Tidemark", "TidemarkApp",
                .target(name: "TidemarkHTTP", condition: .when(traits: [server])),
            ]),
        // TidemarkSimulation is for this package's own tests, and is in no product.
        library(
            "TidemarkSimulation",
            [
                "TidemarkModel", "TidemarkStore", "TidemarkSync", "TidemarkServer", "Tidemark",
                "TidemarkApp", "TidemarkTesting", "TidemarkTestKit",
            ], planted),
        // ExampleKit has the common parts of the example apps: a screen, an app on a phone, a
        // story.
        .target(
            name: "ExampleKit", dependencies: ["Tidemark", "TidemarkApp"], path: "Examples/Kit",
            // The files are links to those of the examples.
            resources: [
                .embedInCode("Rules/chats.rules"), .embedInCode("Rules/health.rules"),
                .embedInCode("Rules/homes.rules"), .embedInCode("Rules/messages.rules"),
                .embedInCode("Rules/stamps.rules"), .embedInCode("Rules/messages.indexes.json"),
            ],
            swiftSettings: settings),
        example("Messages", ["TidemarkApp", "TidemarkImages", "TidemarkResilience"]),
        example("Health", ["TidemarkApp", "TidemarkHealth", "TidemarkHealthSync"]),
        example("Chats", ["TidemarkApp"]),
        example("Stamps", ["TidemarkApp", "TidemarkImages"]),
        example("Homes", ["TidemarkApp"]),
        // TidemarkPhones runs an example app in a separate process, with the servers that the app
        // needs.
        library(
            "TidemarkPhones",
            [
                "TidemarkServer", "TidemarkHTTP", "TidemarkApp", "TidemarkImages", "ExampleKit",
                "ChatsCore", "HealthCore", "HomesCore", "MessagesCore", "StampsCore", arguments,
                httpClient, nioCore, nioHTTP1, nioPosix,
            ]),
        // TidemarkDemo is `tidemark demo`.
        library(
            "TidemarkDemo",
            [
                "TidemarkModel", "TidemarkResilience", "TidemarkRules", "TidemarkWire",
                "TidemarkServer", "TidemarkHTTP", "Tidemark", "TidemarkApp", "TidemarkHealth",
                "TidemarkHealthSync", "TidemarkImages", "TidemarkSystem", "TidemarkTesting",
                "TidemarkPhones", "ExampleKit", "ChatsCore", "HealthCore", "HomesCore",
                "MessagesCore", "StampsCore", arguments, httpClient, nioCore, nioHTTP1,
            ]),
        // TidemarkShow is `tidemark show`: both phones of an example in a browser.
        .target(
            name: "TidemarkShow",
            dependencies: [
                "TidemarkModel", "TidemarkRules", "TidemarkServer", "TidemarkHTTP", "TidemarkWire",
                "TidemarkConsole", "Tidemark", "TidemarkPhones", "ExampleKit", arguments,
                unixSignals,
            ],
            resources: [
                .embedInCode("Assets/show.css"), .embedInCode("Assets/show.js"),
                .embedInCode("Assets/player.js"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "TidemarkCLI",
            dependencies: [
                "TidemarkModel", "TidemarkResilience", "TidemarkRules", "TidemarkStore",
                "TidemarkWire", "TidemarkServer", "TidemarkREST", "TidemarkAudit", "TidemarkHTTP",
                "TidemarkConsole", "Tidemark", "TidemarkExport", "TidemarkApp",
                "TidemarkGoogleAuth", "TidemarkHealth", "TidemarkDemo", "TidemarkPhones",
                "TidemarkShow", "TidemarkSystem", "TidemarkWords", arguments, httpClient, log,
                nioCore, nioHTTP1, serviceLifecycle, unixSignals,
            ],
            swiftSettings: settings),

        // TidemarkLint finds costly Firestore code in an app's sources.
        library(
            "TidemarkLint", ["TidemarkModel", "TidemarkRules", syntax, parser]),
        // The target has the name of its product, because a plugin finds its tool by one name for
        // both.
        .executableTarget(
            name: "tidemark-lint",
            dependencies: ["TidemarkLint", "TidemarkRules", "TidemarkServer", lintArguments],
            path: "Sources/TidemarkLintCLI", swiftSettings: settings),
        // The plugins are `swift package tidemark-lint`, and the findings at each build.
        .plugin(
            name: "TidemarkLintCommand",
            capability: .command(
                intent: .custom(
                    verb: "tidemark-lint",
                    description: "Find what the package's Firestore code reads without need.")),
            dependencies: ["tidemark-lint"]),
        .plugin(
            name: "TidemarkLintBuild", capability: .buildTool(), dependencies: ["tidemark-lint"]),

        // The benchmarks are in this package, because they measure `package` symbols that are in no
        // product.
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "TidemarkModel", "TidemarkResilience", "TidemarkRules", "TidemarkStore",
                "TidemarkSync", "TidemarkWire", "TidemarkServer", "TidemarkTesting", "Tidemark",
                "TidemarkApp", "TidemarkEncryption", arguments, httpClient, hummingbird,
                hummingbirdCore, log, nioCore, nioHTTP1, sqlite,
            ],
            path: "Benchmarks", exclude: ["Results"], swiftSettings: settings),

        tests("TidemarkModelTests", ["TidemarkModel"]),
        // These tests import few targets, so they build in seconds.
        tests("TidemarkRulesTests", ["TidemarkModel", "TidemarkRules"], planted),
        tests(
            "TidemarkResilienceTests",
            ["TidemarkResilience", "TidemarkTestKit", nioCore]),
        tests(
            "TidemarkStoreTests",
            ["TidemarkModel", "TidemarkStore", "TidemarkTestKit", sqlite]),
        tests(
            "TidemarkSyncTests",
            [
                "TidemarkModel", "TidemarkResilience", "TidemarkStore", "TidemarkSync",
                "TidemarkServer", "TidemarkTesting", "TidemarkTestKit", "TidemarkSimulation",
                "Tidemark",
            ]),
        tests(
            "TidemarkWireTests",
            [
                "TidemarkModel", "TidemarkWire", "TidemarkSync", "TidemarkServer",
                "TidemarkTesting", "TidemarkTestKit", protobuf, grpcCore, nioCore,
            ]),
        tests(
            "TidemarkServerTests",
            [
                "TidemarkModel", "TidemarkRules", "TidemarkStore", "TidemarkServer",
                "TidemarkTesting", "TidemarkTestKit",
            ]),
        tests(
            "TidemarkConsoleTests",
            [
                "TidemarkConsole", "TidemarkHTTP", "TidemarkModel", "TidemarkRules",
                "TidemarkServer", "Tidemark",
            ]),
        tests(
            "TidemarkExportTests",
            ["TidemarkExport", "TidemarkModel", "TidemarkServer"]),
        tests(
            "TidemarkHTTPTests",
            [
                "TidemarkHTTP", "TidemarkModel", "TidemarkRules", "TidemarkServer",
                "TidemarkTesting", "TidemarkWire", nioCore, nioPosix, x509,
            ]),
        tests(
            "TidemarkRESTTests",
            ["TidemarkREST", "TidemarkModel", "TidemarkServer", "TidemarkTesting", "TidemarkWire"]),
        tests(
            "TidemarkAuditTests",
            [
                "TidemarkAudit", "TidemarkModel", "TidemarkServer", "TidemarkWire",
                "TidemarkTesting",
                serviceLifecycle, log,
            ]),
        tests(
            "TidemarkTests",
            [
                "Tidemark", "TidemarkRules", "TidemarkServer", "TidemarkTesting",
                "TidemarkTestKit", "TidemarkSync", metrics,
            ]),
        // These tests are a separate target, so they compile and run alone:
        // TIDEMARK_WORLD_SEEDS=17 … --filter WorldTests.
        tests(
            "TidemarkWorldTests",
            [
                "TidemarkModel", "TidemarkResilience", "TidemarkStore", "TidemarkSync",
                "TidemarkServer", "Tidemark", "TidemarkApp", "TidemarkTesting", "TidemarkTestKit",
                "TidemarkSimulation",
            ],
            planted),
        tests(
            "TidemarkAppTests",
            [
                "TidemarkApp", "TidemarkAudit", "TidemarkServer", "TidemarkHTTP", "TidemarkTesting",
                "TidemarkSimulation", "TidemarkModel", "TidemarkWire", "TidemarkGoogleAuth",
                "TidemarkResilience", "HTTPTesting", "TidemarkCLI", arguments, cryptoExtras,
                hummingbird, httpClient, crypto, nioCore,
                nioHTTP1, nioPosix, nioSSL, metrics, metricsTestKit,
            ], planted),
        // These tests simulate a disk that loses data without a sync, and check the stores after
        // it.
        tests(
            "TidemarkDiskTests",
            [
                "TidemarkModel", "TidemarkStore", "TidemarkSync", "TidemarkServer",
                "TidemarkTesting", "TidemarkSimulation", "TidemarkEncryption", sqlite,
            ], planted),
        tests(
            "TidemarkEncryptionTests",
            [
                "TidemarkEncryption", "TidemarkModel", "TidemarkStore", "TidemarkSync",
                "TidemarkServer", "TidemarkTesting", "Tidemark",
            ]),
        tests(
            "TidemarkDemoTests",
            [
                "TidemarkDemo", "TidemarkPhones", "TidemarkModel", "TidemarkResilience",
                "TidemarkServer", "ExampleKit",
            ]),
        tests("TidemarkPhonesTests", ["TidemarkPhones", "ExampleKit"]),
        tests(
            "TidemarkShowTests",
            [
                "TidemarkShow", "TidemarkPhones", "ExampleKit", "StampsCore", "HomesCore",
                "TidemarkModel", "TidemarkRules", "TidemarkServer", "TidemarkTesting", "Tidemark",
                "TidemarkApp",
            ]),
        tests(
            "TidemarkGoogleAuthTests",
            [
                "TidemarkGoogleAuth", "TidemarkResilience", "Tidemark", "HTTPTesting",
                cryptoExtras, hummingbird,
            ]),
        tests("TidemarkWordsTests", ["TidemarkWords"]),
        tests(
            "TidemarkHealthTests",
            ["TidemarkHealth", "TidemarkStore", sqlite, metrics, metricsTestKit]),
        tests(
            "TidemarkHealthSyncTests",
            ["TidemarkHealthSync", "TidemarkHealth", "TidemarkApp", "TidemarkServer"]),
        tests(
            "TidemarkImagesTests",
            [
                "TidemarkImages", "TidemarkTestKit", "TidemarkResilience", nioCore, nioHTTP1,
                nioPosix,
            ]),
        // TestSupport is shared by the tests of all targets: it waits for facts and runs separate
        // threads.
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: settings),
        // A web server on a port of this machine, for tests of HTTP.
        .target(
            name: "HTTPTesting", dependencies: ["TidemarkTesting", hummingbird, log],
            path: "Tests/HTTPTesting", swiftSettings: settings),
        // ExampleTesting has the surroundings of a phone for the tests of the examples.
        .target(
            name: "ExampleTesting",
            dependencies: ["ExampleKit", "Tidemark", "TidemarkServer", "TidemarkTesting"],
            path: "Tests/ExampleTesting", swiftSettings: settings),
        tests(
            "MessagesCoreTests",
            [
                "MessagesCore", "ExampleKit", "ExampleTesting", "Tidemark", "TidemarkApp",
                "TidemarkImages",
                "TidemarkModel", "TidemarkResilience", "TidemarkRules", "TidemarkServer",
                "TidemarkTesting",
            ]),
        tests(
            "HealthCoreTests",
            [
                "HealthCore", "ExampleKit", "ExampleTesting", "Tidemark", "TidemarkApp",
                "TidemarkHealth",
                "TidemarkModel", "TidemarkRules", "TidemarkServer", "TidemarkTesting",
            ]),
        .testTarget(
            name: "TidemarkLintTests",
            dependencies: [
                "TidemarkLint", "TidemarkModel", "TidemarkRules", "TidemarkServer", "TestSupport",
            ],
            exclude: ["Cases"], swiftSettings: settings),
        tests(
            "ChatsCoreTests",
            [
                "ChatsCore", "ExampleKit", "ExampleTesting", "Tidemark", "TidemarkApp",
                "TidemarkModel",
                "TidemarkRules", "TidemarkServer", "TidemarkTesting",
            ]),
        tests("TidyTests", []),
    ]
)

// App Store Connect requires this file of libraries that read files' metadata. It is a part of apps
// only, and apps are built on a Mac.
for target in package.targets
where ["TidemarkStore", "TidemarkImages", "TidemarkHealth"].contains(target.name) {
    #if os(macOS)
        target.resources = [.copy("PrivacyInfo.xcprivacy")]
    #else
        target.exclude.append("PrivacyInfo.xcprivacy")
    #endif
}

// `TIDEMARK_OPTIMIZED=1`, which the Makefile sets, optimises the targets in which the long tests
// compute, in debug builds too. Assertions, `@testable` and planted defects stay. 600 Worlds then
// take 19 s instead of 71 s.
if Context.environment["TIDEMARK_OPTIMIZED"] == "1" {
    let computing = [
        "TidemarkModel", "TidemarkRules", "TidemarkStore", "TidemarkSync", "TidemarkServer",
        "TidemarkWire", "Tidemark", "TidemarkApp", "TidemarkSimulation",
    ]
    let flags = SwiftSetting.unsafeFlags(
        ["-O", "-assert-config", "Debug"], .when(configuration: .debug))
    for target in package.targets where computing.contains(target.name) {
        target.swiftSettings?.append(flags)
    }
}

// `TIDEMARK_TESTS=TidemarkAppTests,TidyTests` removes all other test targets. The test bundle then
// links within seconds after a change, and unused code is not compiled.
if let kept = Context.environment["TIDEMARK_TESTS"]?.split(separator: ",").map(String.init) {
    package.targets.removeAll { $0.type == .test && !kept.contains($0.name) }
}
