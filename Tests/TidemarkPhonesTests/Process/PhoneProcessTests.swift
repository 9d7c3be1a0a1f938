import Foundation
import Testing

@testable import TidemarkPhones

@Suite(.timeLimit(.minutes(2))) struct `A phone's process` {
    private func shell(_ script: String, in folder: URL) -> PhoneProcess {
        PhoneProcess(
            URL(fileURLWithPath: "/bin/sh"), ["-c", "cd '\(folder.path)'; \(script)"])
    }

    private func inFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("phone-process-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    private let look = "[ -e ended ] && touch after || touch beside"

    @Test func `begins when the one before it has ended`() async throws {
        try await inFolder { folder in
            let former = shell("sleep 0.5; touch ended", in: folder)
            _ = try await former.start()
            let phone = shell(look, in: folder)
            for await _ in try await phone.start(after: former) {}
            #expect(phone.ending == "The app has ended.")
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(files.sorted() == ["after", "ended"])
        }
    }

    /// Killed and launched twice in one moment: the third waits for the first.
    @Test func `that was killed before it began hands on whom it waited for`() async throws {
        try await inFolder { folder in
            let former = shell("sleep 0.5; touch ended", in: folder)
            _ = try await former.start()
            let second = shell("touch second", in: folder)
            second.kill9()
            #expect(second.ending == nil)
            async let news = second.start(after: former)
            let third = shell(look, in: folder)
            for await _ in try await third.start(after: second) {}
            for await _ in try await news { Issue.record("it never began") }
            #expect(second.ending == "The app was killed before it started.")
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(files.sorted() == ["after", "ended"])
        }
    }
}
