import Foundation
import Testing

/// What `Package.swift` hands to apps.
@Suite struct `The products` {
    private func lines() throws -> [String] {
        try #require(Repository.files.first { $0.path == "Package.swift" }).lines
    }

    @Test func `have neither the simulation nor the demos`() throws {
        let libraries = try lines().filter { $0.contains(".library(name:") }
        #expect(libraries.count >= 7)
        for name in ["TidemarkSimulation", "TidemarkDemo", "TidemarkCLI"] {
            #expect(!libraries.contains { $0.contains(name) }, "\(name) is no library for apps")
        }
    }

    /// What an app imports for its tests brings nothing of this package's own tests.
    @Test func `do not reach the simulation by way of another target`() throws {
        for (target, allowed) in ImportRules.allowed where target != "TidemarkSimulation" {
            #expect(!allowed.contains("TidemarkSimulation"), "\(target)")
            if target != "TidemarkCLI" { #expect(!allowed.contains("TidemarkDemo"), "\(target)") }
        }
    }
}
