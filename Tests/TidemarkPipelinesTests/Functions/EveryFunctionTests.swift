import Foundation
import Testing

@testable import TidemarkPipelines

struct `Every function` {
    /// The names at the start of the lines of the tables beside this file.
    private func tested() throws -> Set<String> {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        var names: Set<String> = []
        for file in try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil)
        {
            let text = try String(contentsOf: file, encoding: .utf8)
            for line in text.split(separator: "\n") where line.contains(" => ") {
                names.insert(String(line.drop { $0 == " " }.prefix { $0 != "(" }))
            }
        }
        return names
    }

    @Test func `has a line in a table`() throws {
        let others: Set = ["rand", "current_document"]
        let missing = Set(Function.named.keys).subtracting(try tested()).subtracting(others)
        #expect(missing.isEmpty, "\(missing.sorted())")
        let count = Function.named.count + Lambda.Kind.allCases.count + TextSearch.functions.count
        #expect(count >= 129, "\(count)")
    }
}
