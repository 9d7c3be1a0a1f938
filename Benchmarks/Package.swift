// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "tidemark", path: ".."),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .executableTarget(
            name: "StoreBenchmark",
            dependencies: [
                .product(name: "TidemarkStore", package: "tidemark"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            // What is measured is internal to the library: `package` there, and so it must be here.
            swiftSettings: [.unsafeFlags(["-package-name", "tidemark"])])
    ]
)
