import Foundation
import Testing
import TidemarkRules
import TidemarkServer

struct `A rules file` {
    private let open = "service cloud.firestore { match /{all=**} { allow read; } }"
    private let closed = "service cloud.firestore { }"

    private func lines(_ effects: [RulesFile.Effect]) -> [String] {
        effects.compactMap { if case .say(let line) = $0 { line } else { nil } }
    }

    private func hasRules(_ effects: [RulesFile.Effect]) -> Bool {
        effects.contains { if case .put = $0 { true } else { false } }
    }

    @Test func `is put in force when it is right, and only then`() {
        var file = RulesFile("firestore.rules")
        let first = file.step(.text(closed))
        #expect(hasRules(first) && lines(first).isEmpty)
        #expect(file.step(.text(closed)).isEmpty, "nothing has changed")
        let wrong = file.step(.text("service cloud.firestore { match }"))
        #expect(!hasRules(wrong))
        #expect(lines(wrong).first?.hasPrefix("firestore.rules: L1:") == true)
        #expect(lines(wrong).last == "firestore.rules: The previous rules stay in force.")
        #expect(file.rules?.source.text == closed && !file.problems.isEmpty)
        let gone = file.step(.unreadable("The file cannot be read."))
        #expect(!hasRules(gone) && file.problems == ["The file cannot be read."])
        let mended = file.step(.text(open))
        #expect(hasRules(mended) && file.problems.isEmpty)
        #expect(lines(mended).first?.contains("warning: L1:45 Anybody may get, list") == true)
        #expect(lines(mended).last == "firestore.rules: the new rules are in force.")
    }

    @Test func `is read again when it changes on disk`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "firestore.rules").path
        let server = try TestServer()
        #expect(throws: InvalidRulesFile.self) { try watching(path, server) }
        try "nonsense".write(toFile: path, atomically: true, encoding: .utf8)
        #expect(throws: InvalidRulesFile.self) { try watching(path, server) }
        try closed.write(toFile: path, atomically: true, encoding: .utf8)
        let watch = try watching(path, server)
        #expect(server.server.rules?.rules.source.text == closed)
        try open.write(toFile: path, atomically: true, encoding: .utf8)
        watch.look()
        #expect(server.server.rules?.rules.source.text == open)
        try (open + "x").write(toFile: path, atomically: false, encoding: .utf8)
        watch.look()
        #expect(server.server.rules?.rules.source.text == open && !watch.problems.isEmpty)
        try FileManager.default.removeItem(atPath: path)
        watch.look()
        #expect(watch.problems == ["The file cannot be read."])
    }

    private func watching(_ path: String, _ server: TestServer) throws -> RulesFileWatch {
        try RulesFileWatch(path, for: server.server, settings: { RulesSettings($0) }, say: { _ in })
    }
}
