// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

/// The settings of the package itself: see `settings` in its manifest.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// Declares the used parts of one of Apple's modules, under the module's name.
func stub(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Stubs/" + name, swiftSettings: settings)
}

/// Makes a target from links to files of the package.
func checked(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Checked/" + name, swiftSettings: settings)
}

// On a Mac the modules are Apple's own, and the witnesses check that the stubs are like them.
#if os(macOS)
    let stubs: [Target] = []
    let modules: [Target.Dependency] = []
#else
    let stubs: [Target] = [
        stub("CoreFoundationStub"), stub("Security", ["CoreFoundationStub"]),
        stub("CoreGraphics", ["CoreFoundationStub"]),
        stub("ImageIO", ["CoreFoundationStub", "CoreGraphics"]), stub("Network"),
        stub("HealthKit"), stub("SwiftUI", ["CoreGraphics", "SwiftUIMacros"]),
        stub("AuthenticationServices", ["SwiftUI"]), stub("BackgroundTasks"), stub("os"),
        stub("Combine"), stub("Charts", ["SwiftUI"]), stub("PhotosUI", ["SwiftUI"]),
        stub("UIKit", ["CoreGraphics"]),
        .macro(name: "SwiftUIMacros", path: "Macros", swiftSettings: settings),
    ]
    let modules: [Target.Dependency] = [
        "Security", "CoreGraphics", "ImageIO", "Network", "HealthKit", "SwiftUI",
        "AuthenticationServices", "BackgroundTasks", "os", "Combine", "Charts", "PhotosUI",
        "UIKit",
    ]
#endif

let package = Package(
    name: "AppleCheck",
    platforms: [.macOS(.v15), .iOS(.v18), .visionOS(.v2)],
    products: [.library(name: "Witness", targets: ["Witness"])],
    targets: stubs + [
        checked("TidemarkWords", modules),
        checked("TidemarkImages", modules + ["TidemarkWords"]),
        checked("Tidemark", modules),
        checked("TidemarkApp", modules + ["Tidemark"]),
        checked("TidemarkHealth", modules + ["TidemarkWords"]),
        checked("TidemarkFiles", modules),
        // FirebaseAuth is no module of Apple's: its stub stands in on a Mac too.
        stub("FirebaseAuth"),
        checked("FirebaseAuthAdapter", ["FirebaseAuth", "TidemarkApp"]),
        .target(
            name: "Witness", dependencies: modules, path: "Witness", swiftSettings: settings),
        .testTarget(
            name: "AppleCheckTests",
            dependencies: modules + [
                "Tidemark", "TidemarkImages", "TidemarkApp", "TidemarkFiles", "TidemarkHealth",
                "Witness", "FirebaseAuth", "FirebaseAuthAdapter",
            ],
            // Testing knows Apple's CoreGraphics and would look for its own additions to that
            // module.
            path: "Tests",
            swiftSettings: settings
                + [.unsafeFlags(["-Xfrontend", "-disable-cross-import-overlays"])]),
    ]
)
