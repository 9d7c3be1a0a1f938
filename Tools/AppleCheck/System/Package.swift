// swift-tools-version: 6.2
import PackageDescription

// Apple's C library, in a package without a test target, because the code that Swift generates for
// tests looks for a module named Darwin too.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

func target(_ name: String, _ others: Target.Dependency...) -> Target {
    .target(
        name: name, dependencies: ["Darwin"] + others, path: "Checked/" + name,
        swiftSettings: settings)
}

let package = Package(
    name: "SystemCheck",
    targets: [
        .target(name: "Darwin", path: "Stubs/Darwin", swiftSettings: settings),
        target("TidemarkSystem"), target("Tidemark"), target("TidemarkFiles", "TidemarkSystem"),
        .executableTarget(
            name: "SystemCheck",
            dependencies: ["Darwin", "TidemarkSystem", "Tidemark", "TidemarkFiles"], path: "Run",
            swiftSettings: settings),
    ]
)
