import Foundation
import Testing

/// Checks the products that `Package.swift` offers to apps.
struct `The products` {
    private func lines() throws -> [String] {
        try #require(Repository.files.first { $0.path == "Package.swift" }).lines
    }

    @Test func `have neither the simulation nor the demos`() throws {
        let libraries = try lines().filter { $0.contains(".library(name: \"") }
        #expect((7...10).contains(libraries.count), "an app chooses among ten at most")
        for name in ["TidemarkSimulation", "TidemarkDemo", "TidemarkCLI", "TidemarkLab"] {
            #expect(!libraries.contains { $0.contains(name) }, "\(name) is no library for apps")
        }
    }

    /// An app's tests do not need the targets of this package's own tests.
    @Test func `do not reach the simulation by way of another target`() throws {
        for (target, allowed) in ImportRules.allowed where target != "TidemarkSimulation" {
            #expect(!allowed.contains("TidemarkSimulation"), "\(target)")
            if target != "TidemarkLab" { #expect(!allowed.contains("TidemarkDemo"), "\(target)") }
        }
    }

    /// The program that developers install has neither demos, nor example apps, nor drivers of
    /// tests.
    @Test func `have no part of the laboratory in the program tidemark`() {
        var (reached, left) = (Set<String>(), ["TidemarkCLI"])
        while let target = left.popLast() {
            if reached.insert(target).inserted { left += ImportRules.allowed[target] ?? [] }
        }
        #expect(reached.contains("TidemarkServer"))
        let laboratory: Set = [
            "TidemarkLab", "TidemarkDemo", "TidemarkShow", "TidemarkPhones", "TidemarkTesting",
            "TidemarkTestKit", "TidemarkSimulation", "ExampleKit", "MessagesCore", "HealthCore",
            "ChatsCore", "HomesCore", "StampsCore",
        ]
        #expect(reached.isDisjoint(with: laboratory))
    }

    /// The products for servers, and for an app's tests, which build on a Mac.
    private static let notOnDevices: Set = [
        "TidemarkAudit", "TidemarkTesting",
    ]

    /// Without the scheme, Xcode builds every target for a device. This includes the command line,
    /// which starts processes.
    @Test func `are what the package's scheme builds for a device`() throws {
        let scheme = Repository.root.appending(
            path: ".swiftpm/xcode/xcshareddata/xcschemes/tidemark-Package.xcscheme")
        let text = try String(contentsOf: scheme, encoding: .utf8)
        let built = text.matches(of: #/BlueprintName = "(\w+)"/#).map { String($0.1) }
        let libraries = try lines().compactMap { line in
            line.firstMatch(of: #/\.library\(name: "(\w+)"/#).map { String($0.1) }
        }
        #expect(Set(built) == Set(libraries).subtracting(Self.notOnDevices))

        var (reached, left) = (Set<String>(), built)
        while let target = left.popLast() {
            if reached.insert(target).inserted { left += ImportRules.allowed[target] ?? [] }
        }
        #expect(reached.isSuperset(of: ["TidemarkSync", "TidemarkStore", "TidemarkWire"]))
        for file in Repository.swift {
            let folders = file.path.split(separator: "/")
            guard folders[0] == "Sources", reached.contains(String(folders[1])) else { continue }
            #expect(!file.lines.contains { $0.contains("Process()") }, "\(file.path)")
        }
    }
}
