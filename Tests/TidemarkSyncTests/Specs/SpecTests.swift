import Foundation
import Testing
import TidemarkModel

@testable import TidemarkSync

/// The scenario scripts in a folder named by `TIDEMARK_SPECS`, where there is one.
@Suite struct SpecTests {
    static let folder = ProcessInfo.processInfo.environment["TIDEMARK_SPECS"]

    @Test(.enabled(if: folder != nil, "TIDEMARK_SPECS names no folder of scripts"))
    func `scenario scripts`() throws {
        let folder = try #require(Self.folder)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        var passed = 0
        var unsupported: [String: Int] = [:]
        for file in files where file.hasSuffix(".json") {
            let data = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + file))
            let scripts = try JSONDecoder().decode([String: SpecJSON].self, from: data)
            for (name, script) in scripts.sorted(by: { $0.key < $1.key }) {
                let tags = script["tags"]?.list.compactMap(\.text) ?? []
                if tags.contains("eager-gc") || tags.contains("multi-client") { continue }
                let runner = try SpecRunner(script["config"] ?? .null)
                do {
                    try runner.run(script["steps"]!.list)
                    if runner.problems.isEmpty {
                        passed += 1
                    } else {
                        Issue.record("\(file): \(name): \(runner.problems[0])")
                    }
                } catch let error as SpecRunner.Unsupported {
                    unsupported[error.what, default: 0] += 1
                }
            }
        }
        print("\(passed) scripts pass; not played, by the step that is missing: \(unsupported)")
        #expect(passed > 0)
    }
}
