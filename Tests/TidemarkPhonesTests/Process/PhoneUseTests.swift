import ExampleKit
import Foundation
import Testing

@testable import TidemarkPhones

@Suite(.timeLimit(.minutes(2))) struct `A use of an app` {
    private let loading = Screen("Stamps")
    private let full = Screen(
        "Stamps", .fresh,
        sections: [Screen.Section(nil, [Row("s1", "Comet").with { $0.isDocument = true }])])

    private func script(_ news: [PhoneNews], then: String) -> PhoneProcess {
        let lines = news.map { String(decoding: JSONLine.encode($0), as: UTF8.self) }
        return PhoneProcess(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", lines.map { "echo '\($0.dropLast())'\n" }.joined() + then])
    }

    @Test func `ends when the person has seen enough, and knows when that was`() async throws {
        let phone = script(
            [.begins(40), .screen(loading, 50), .plan(["Nothing."]), .screen(full, 62.5)],
            then: "exec sleep 600")
        let use = try await PhoneUse.play(phone, patience: .seconds(300)) {
            $0.last?.documents.isEmpty == false ? .kill : .wait
        }
        #expect(use.begins == 40 && use.isFinished)
        #expect(use.first { !$0.documents.isEmpty } == 62.5)
        #expect(use.first(\.controls.isEmpty) == 50)
        #expect(use.screens.count == 2)
    }

    @Test func `is over when the patience is, and then it is not finished`() async throws {
        let phone = script([.screen(loading, 50)], then: "exec sleep 600")
        let use = try await PhoneUse.play(phone, patience: .zero) { _ in .wait }
        #expect(!use.isFinished && use.first { !$0.documents.isEmpty } == nil)
    }

    @Test func `passes on what the person types, and hears of the steps`() async throws {
        let next: PhoneNews = .screen(full, 70)
        let line = String(decoding: JSONLine.encode(next), as: UTF8.self).dropLast()
        let phone = script(
            [.reached("secret kept"), .screen(loading, 50)],
            then: """
                read order
                case "$order" in *'"text":"Ada"'*) echo '\(line)';; esac
                read order
                """)
        let use = try await PhoneUse.play(phone, patience: .seconds(300)) {
            $0.last?.documents.isEmpty == false ? .close : .tap("name", text: "Ada")
        }
        #expect(use.isFinished && use.last == full)
        #expect(use.reached == ["secret kept"])
    }
}
