import Foundation
import Testing
import TestSupport

/// Computes the figures of the lint's page from the findings, each of which has a verdict.
@Suite(.ownThread) struct `The findings of the lint` {
    private struct Sample: Decodable {
        let linter: String
        let size: Int
        let perRepository: Int
        /// The names of the apps of earlier sets.
        let earlier: [String]
        /// The number of all findings in the apps, by name.
        let found: [String: Int]
        let repositories: [App]
        let findings: [Judged]
    }

    private struct App: Decodable {
        let name: String
        let commit: String
        let found: Int
    }

    private struct Judged: Decodable {
        let repository: String
        let path: String
        let line: Int
        let column: Int
        let name: String
        let text: String
        let verdict: Verdict
        /// The kind of fault in the finding, or nil if the finding is right.
        let kind: String?
        let why: String
    }

    private enum Verdict: String, Decodable { case right, wrong, debatable }

    /// A number of findings, and how many of them are right.
    private struct Share {
        let right: Int
        let all: Int

        /// The percentage, and Wilson's interval, which contains the true percentage 19 times of
        /// 20.
        var percentages: (value: String, from: String, to: String) {
            let (right, all, z) = (Double(right), Double(all), 1.959964)
            let middle = (right + z * z / 2) / (all + z * z)
            let half = z * (right * (all - right) / all + z * z / 4).squareRoot() / (all + z * z)
            return (Self.text(right / all), Self.text(middle - half), Self.text(middle + half))
        }

        private static func text(_ share: Double) -> String {
            String(format: "%.1f", share * 100)
        }
    }

    private let sample: Sample
    private let page: [String]
    /// The page as one line.
    private let prose: String

    init() throws {
        let file = Repository.root.appending(path: "Benchmarks/Results/Lint/findings.json")
        sample = try JSONDecoder().decode(Sample.self, from: Data(contentsOf: file))
        page = try #require(Repository.files.first { $0.path == "Documentation/Lint.md" }).lines
        prose = page.joined(separator: " ")
    }

    private func count(
        _ verdict: Verdict, where isCounted: (Judged) -> Bool = { _ in true }
    ) -> Int {
        sample.findings.count { $0.verdict == verdict && isCounted($0) }
    }

    private func expect(_ sentence: String) {
        #expect(prose.contains(sentence), "the page does not say: \(sentence)")
    }

    @Test func `give the share that the page begins with`() {
        let (right, wrong) = (count(.right), count(.wrong))
        let all = sample.findings.count
        let share = Share(right: right, all: all).percentages
        expect(
            "**\(share.value) % of its findings are right: \(right) of \(all), with a 95 % "
                + "interval from \(share.from) to \(share.to) %**")
        expect("\(wrong) are wrong and \(count(.debatable)) debatable")
        let decided = Share(right: right, all: right + wrong).percentages
        expect(
            "Of the \(right + wrong) that could be decided, \(decided.value) % are right, with an "
                + "interval from \(decided.from) to \(decided.to) %.")
        let told = sample.found.values.reduce(0, +)
        let (thousands, rest) = told.quotientAndRemainder(dividingBy: 1_000)
        let grouped = "\(thousands)," + String(format: "%03d", rest)
        expect("the \(grouped) that it told in \(sample.repositories.count) public apps")
    }

    @Test func `give the rows of the page`() {
        let names = Set(sample.findings.map(\.name))
        let kinds = Set(sample.findings.compactMap(\.kind))
        for name in names {
            let counts = [Verdict.right, .wrong, .debatable].map { verdict in
                count(verdict) { $0.name == name }
            }
            let cells = [name] + (counts + [sample.found[name] ?? 0]).map(String.init)
            let row = "| \(cells.joined(separator: " | ")) |"
            #expect(page.contains(row), "the page has no row \(row)")
        }
        for kind in kinds {
            let wrong = count(.wrong) { $0.kind == kind }
            let debatable = count(.debatable) { $0.kind == kind }
            let isThere = page.contains {
                $0.hasPrefix("| \(kind) | ") && $0.hasSuffix(" | \(wrong) | \(debatable) |")
            }
            #expect(isThere, "the page has no row of \(kind) with \(wrong) and \(debatable)")
        }
        for (name, number) in sample.found where !names.contains(name) {
            expect("`\(name)` \(number)")
        }
    }

    @Test func `are as many, and of as many apps, as was fixed before`() {
        #expect(sample.findings.count == sample.size)
        let byApp = Dictionary(grouping: sample.findings, by: \.repository)
        let apps = Set(sample.repositories.map(\.name))
        #expect(Set(byApp.keys).isSubset(of: apps))
        #expect(apps.count == sample.repositories.count)
        for (app, findings) in byApp {
            #expect(findings.count <= sample.perRepository, "\(app) has \(findings.count)")
        }
        let told = sample.repositories.reduce(0) { $0 + $1.found }
        #expect(told == sample.found.values.reduce(0, +))
        for commit in sample.repositories.map(\.commit) + [sample.linter] {
            #expect(commit.count == 40 && commit.allSatisfy(\.isHexDigit), "\(commit)")
        }
    }

    @Test func `are of apps that no earlier set had`() {
        let earlier = Set(sample.earlier.map { $0.lowercased() })
        #expect(sample.earlier.count == 46)
        let again = sample.repositories.map(\.name).filter { name in
            earlier.contains(name.split(separator: "/").last?.lowercased() ?? "")
        }
        #expect(again.isEmpty, "\(again)")
    }

    @Test func `have each a place, a page and a reason`() {
        let places = sample.findings.map {
            "\($0.repository)/\($0.path):\($0.line):\($0.column) \($0.name)"
        }
        #expect(Set(places).count == places.count)
        let pages = Set(Repository.files.map(\.path))
        for finding in sample.findings {
            #expect(pages.contains("Documentation/Lint/\(finding.name).md"), "\(finding.name)")
            #expect(!finding.text.isEmpty && !finding.why.isEmpty, "\(finding.path)")
            #expect((finding.kind == nil) == (finding.verdict == .right), "\(finding.path)")
        }
    }
}
