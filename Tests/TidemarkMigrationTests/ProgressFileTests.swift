import Foundation
import Testing
import TidemarkModel

@testable import TidemarkMigration

struct ProgressFileTests {
    private let field = FieldPath(name: "updatedAt")
    private let posts = MigratedCollection.collection(CollectionPath(unchecked: "posts"))

    private func database(_ project: String = "demo") throws -> DatabaseID {
        try DatabaseID(project: project)
    }

    private func withFile(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "tidemark-migration-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.appending(path: "progress.json").path)
    }

    @Test func `what is written is read, for its collection alone`() throws {
        try withFile { path in
            #expect(try ProgressFile.read(path) == ProgressFile())
            var progress = FillProgress()
            progress.cursor = "posts/x"
            progress.window = WrittenWindow(
                from: Timestamp(seconds: 1, nanoseconds: 0),
                to: Timestamp(seconds: 2, nanoseconds: 0))
            progress.wrongType.add(DocumentPath(unchecked: "posts/a"), "number")
            var file = ProgressFile()
            file.set(progress, of: posts, field: field, in: try database())
            try file.write(path)
            let read = try ProgressFile.read(path)
            #expect(read == file)
            #expect(read.unfinished(posts, field, in: try database()) == progress)
            #expect(read.unfinished(posts, field, in: try database("other")) == nil)
            #expect(read.unfinished(posts, FieldPath(name: "changedAt"), in: try database()) == nil)
            #expect(read.unfinished(.group("posts"), field, in: try database()) == nil)
        }
    }

    @Test func `the window of a finished migration stays when another begins`() throws {
        var file = ProgressFile()
        var first = FillProgress()
        first.isFinished = true
        first.window = WrittenWindow(
            from: Timestamp(seconds: 1, nanoseconds: 0), to: Timestamp(seconds: 2, nanoseconds: 0))
        file.set(first, of: posts, field: field, in: try database())
        #expect(file.unfinished(posts, field, in: try database()) == nil)
        var second = FillProgress()
        for seconds in 5...7 as ClosedRange<Int64> {
            let time = Timestamp(seconds: seconds, nanoseconds: 0)
            second.window = WrittenWindow(
                from: Timestamp(seconds: 5, nanoseconds: 0), to: time)
            file.set(second, of: posts, field: field, in: try database())
        }
        let windows = file.windows(posts, field, in: try database())
        #expect(windows.map(\.from) == [1_000_000, 5_000_000])
        #expect(windows.last?.to == 7_000_000)
    }

    @Test(arguments: ["", "[]", "{", #"{"version": 9, "migrations": []}"#, #"{"version": 1}"#])
    func `another file is refused, and stays as it is`(text: String) throws {
        try withFile { path in
            try Data(text.utf8).write(to: URL(filePath: path))
            #expect(throws: ProgressFile.Failure.self) { try ProgressFile.read(path) }
            #expect(try Data(contentsOf: URL(filePath: path)) == Data(text.utf8))
        }
    }
}
