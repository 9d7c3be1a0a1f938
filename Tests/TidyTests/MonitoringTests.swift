import Foundation
import Testing

/// Compares the alerts, the dashboard and their list of metrics with the metrics in the code.
struct `The monitoring files` {
    private static let folder = Repository.root.appending(path: "Monitoring")

    private static func text(_ name: String) throws -> String {
        try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }

    /// The metrics that the code emits. Their names are literals in the code, except the names for
    /// pictures, which one file lists.
    private static let emitted: Set<String> = {
        var result: Set<String> = []
        for file in Repository.swift where file.path.hasPrefix("Sources/") {
            let lines = file.lines.filter {
                !$0.trimmingCharacters(in: .whitespaces).hasPrefix("//")
            }
            for line in lines where line.contains("\"tidemark_") {
                for match in line.matches(of: /"(tidemark_[a-z_]+)"/) {
                    result.insert(String(match.1))
                }
            }
            guard file.path.hasSuffix("/PictureFigures.swift") else { continue }
            for line in lines {
                for match in line.matches(of: /\("([a-z_]+)", \\\./) {
                    result.insert("tidemark_pictures_\(match.1)")
                }
            }
        }
        return result
    }()

    /// Returns the metrics in an expression, without the endings that a backend adds for a timer.
    private static func metrics(in expression: String) -> Set<String> {
        var result: Set<String> = []
        for match in expression.matches(of: /tidemark_[a-z_]+/) {
            var name = String(match.0)
            for ending in ["_sum", "_count", "_bucket"] where name.hasSuffix(ending) {
                name.removeLast(ending.count)
            }
            result.insert(name)
        }
        return result
    }

    private struct Dashboard: Decodable {
        struct Panel: Decodable {
            struct Target: Decodable {
                let refId: String
                let expr: String
            }
            struct Place: Decodable, Hashable {
                let x, y, w, h: Int
            }
            let id: Int
            let title: String
            let targets: [Target]
            let gridPos: Place
        }
        let title: String
        let panels: [Panel]
    }

    private struct Alert {
        var name: String
        var fields: [String: String] = [:]
    }

    /// Parses the alerts. The parser knows only the YAML that the file uses: a list of maps, with
    /// folded text for expressions.
    private static func alerts() throws -> [Alert] {
        var alerts: [Alert] = []
        var isFolded = false
        for line in try text("tidemark-alerts.yml").components(separatedBy: "\n") {
            let words = line.trimmingCharacters(in: .whitespaces)
            if words.hasPrefix("#") || words.isEmpty { continue }
            if let match = words.wholeMatch(of: /- alert: (\w+)/) {
                alerts.append(Alert(name: String(match.1)))
            } else if isFolded {
                alerts[alerts.count - 1].fields["expr"] = words
                isFolded = false
            } else if words == "expr: >-" {
                isFolded = true
            } else if let match = words.wholeMatch(of: /(\w+): (.+)/), !alerts.isEmpty {
                alerts[alerts.count - 1].fields[String(match.1)] = String(match.2)
            }
        }
        return alerts
    }

    @Test func `alerts are whole, and name metrics that the code counts`() throws {
        let alerts = try Self.alerts()
        #expect(alerts.count >= 12)
        #expect(Set(alerts.map(\.name)).count == alerts.count)
        for alert in alerts {
            for field in ["expr", "for", "severity", "summary", "description"] {
                #expect(alert.fields[field] != nil, "\(alert.name) has no \(field)")
            }
            let expression = alert.fields["expr"] ?? ""
            #expect(expression.contains(/\ > [0-9.]+$/), "\(alert.name) has no threshold")
            let named = Self.metrics(in: expression)
            #expect(!named.isEmpty, "\(alert.name)")
            #expect(named.subtracting(Self.emitted).isEmpty, "\(alert.name): \(named)")
            #expect(
                expression.count { $0 == "(" } == expression.count { $0 == ")" }, "\(alert.name)")
        }
        let all = alerts.map { $0.fields["expr"] ?? "" }.joined(separator: "\n")
        for needed in [
            "tidemark_profile_creations", "tidemark_orphans", "tidemark_read_storms",
            "tidemark_account_journal_since", "tidemark_writes_since",
        ] { #expect(Self.metrics(in: all).contains(needed), "\(needed)") }
    }

    @Test func `the dashboard can be read, and shows metrics that the code counts`() throws {
        let data = try Data(
            contentsOf: Self.folder.appending(path: "tidemark-dashboard.json"))
        let dashboard = try JSONDecoder().decode(Dashboard.self, from: data)
        #expect(dashboard.title == "Tidemark" && dashboard.panels.count >= 12)
        #expect(Set(dashboard.panels.map(\.id)).count == dashboard.panels.count)
        #expect(Set(dashboard.panels.map(\.gridPos)).count == dashboard.panels.count)
        for panel in dashboard.panels {
            #expect(!panel.targets.isEmpty && panel.gridPos.x + panel.gridPos.w <= 24)
            for target in panel.targets {
                let named = Self.metrics(in: target.expr)
                #expect(!named.isEmpty, "\(panel.title) \(target.refId)")
                #expect(named.subtracting(Self.emitted).isEmpty, "\(panel.title): \(named)")
            }
        }
    }

    @Test func `the list has each metric that the code counts, and no other`() throws {
        var listed: Set<String> = []
        for line in try Self.text("README.md").components(separatedBy: "\n") {
            if let match = line.prefixMatch(of: /\| `(tidemark_[a-z_]+)` \|/) {
                listed.insert(String(match.1))
            }
        }
        #expect(Self.emitted.count > 30)
        #expect(listed.symmetricDifference(Self.emitted).isEmpty)
    }
}
