import Foundation
import TestSupport
import Testing
import TidemarkModel

@testable import TidemarkSync

/// A scenario script of a folder.
struct SpecScript: Sendable, CustomTestStringConvertible {
    let file: String
    let name: String
    let script: SpecJSON

    var testDescription: String { "\(file): \(name)" }
    var tags: [String] { script["tags"]?.list.compactMap(\.text) ?? [] }

    /// The reason why the script is skipped, or nil if it is played.
    var reasonToSkip: String? {
        if let clients = script["config"]?["numClients"]?.int, clients > 1 {
            return "it is about several tabs of a browser"
        }
        return tags.contains("eager-gc") ? SpecSkips.reasons[testDescription] : nil
    }
}

/// The skipped scripts of the folder. All others are played.
enum SpecSkips {
    private static let eager =
        "it is about a cache in memory that forgets at once what nobody listens to; here caches in "
        + "memory keep it, as those in files do"

    static let reasons: [String: String] = Dictionary(
        uniqueKeysWithValues: [
            "garbage_collection_spec_test.json: Contents of query are cleared when listen is removed.",
            "listen_source_spec_test.json: Contents of query are cleared when listen is removed.",
            "listen_source_spec_test.json: Documents are cleared when listen is removed.",
            "listen_spec_test.json: Contents of query are cleared when listen is removed.",
            "listen_spec_test.json: Documents outside of view are cleared when listen is removed.",
            "offline_spec_test.json: Queries return from cache when network disabled",
            "offline_spec_test.json: Removing all listeners delays \"Offline\" status on next listen",
            "write_spec_test.json: Writes are released when there are no queries left",
        ].map { ($0, eager) })
}

enum SpecFolder {
    /// The folder of this project's own scripts.
    static let own = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Specs").path

    /// The folder of `TIDEMARK_SPECS`, or a folder beside the repository.
    static let corpus = SharedCorpus(
        "spec-tests", variable: "TIDEMARK_SPECS", tests: "shared scripts of TidemarkSyncTests")
    static let shared = scripts(in: corpus.folder.path)

    static func scripts(in folder: String) -> [SpecScript] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return files.sorted().filter { $0.hasSuffix(".json") }.flatMap { file -> [SpecScript] in
            guard let data = FileManager.default.contents(atPath: folder + "/" + file),
                let scripts = try? JSONDecoder().decode([String: SpecJSON].self, from: data)
            else { return [SpecScript(file: file, name: "cannot be read", script: .null)] }
            return scripts.sorted { $0.key < $1.key }.map {
                SpecScript(file: file, name: $0.key, script: $0.value)
            }
        }
    }
}

/// Plays the scenario scripts of `TIDEMARK_SPECS` (by default, of the folder beside the repository)
/// and this project's own scripts.
struct SpecTests {
    private func play(_ spec: SpecScript, sharesCache: Bool) throws {
        let unknown = SpecShape.script.unknownKeys(in: spec.script)
        #expect(unknown.isEmpty, "unknown keys: \(unknown)")
        let steps = try #require(spec.script["steps"]?.list)
        let runner = try SpecRunner(spec.script, sharesCache: sharesCache)
        try runner.run(steps)
        #expect(runner.problems.isEmpty, "\(runner.problems.first ?? "")")
    }

    @Test(
        .enabled(
            if: SpecFolder.corpus.isPlayed,
            "there are no scripts at ../shared/spec-tests, and TIDEMARK_SPECS names none; our own ran"
        ),
        arguments: SpecFolder.shared.filter { $0.reasonToSkip == nil })
    func `the scenario scripts`(spec: SpecScript) throws {
        try play(spec, sharesCache: true)
    }

    @Test(arguments: SpecFolder.scripts(in: SpecFolder.own))
    func `our own scenario scripts`(spec: SpecScript) throws {
        try play(spec, sharesCache: spec.script["config"]?["isolatesUsers"]?.flag != true)
    }

    /// With a cache for each user, as apps have it, everything is the same, except where the
    /// scripts show one user another user's documents.
    @Test(
        .enabled(if: SpecFolder.corpus.isPlayed, "no folder of scripts"),
        arguments: SpecFolder.shared.filter { spec in
            spec.reasonToSkip == nil && spec.name != "Visible mutations reflect uid switches"
                && spec.script["steps"]?.list.contains { $0.keys.contains("changeUser") } == true
        })
    func `the scripts about users, with a cache for each`(spec: SpecScript) throws {
        try play(spec, sharesCache: false)
    }

    @Test func `nothing is skipped without a reason, and few are`() {
        let skipped = SpecFolder.shared.filter { $0.reasonToSkip != nil }
        #expect(skipped.filter { $0.tags.contains("eager-gc") }.count <= SpecSkips.reasons.count)
        #expect(!SpecFolder.scripts(in: SpecFolder.own).isEmpty)
    }

    /// Google's repository has 292 scripts, of which 201 are about one client. The folder may
    /// contain only 160 of the 292.
    @Test(.enabled(if: SpecFolder.corpus.isPlayed, "no folder of scripts"))
    func `none of the scenario scripts is missing`() {
        let played = SpecFolder.shared.count { $0.reasonToSkip == nil }
        let expected = SpecFolder.shared.count > 160 ? 201 : 154
        #expect(played == expected, "the scripts have moved: there are \(SpecFolder.shared.count)")
    }
}
