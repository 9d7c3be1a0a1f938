import Foundation
import TidemarkModel
import TidemarkRules
import TidemarkServer

@testable import TidemarkLint

/// A piece of code in `Cases/ID.txt` that has a finding (`+`), or that looks similar without a
/// finding (`-`).
struct LintCase: Sendable, CustomStringConvertible {
    let id: FindingID
    let name: String
    let isFound: Bool
    let code: String

    var description: String { "\(id.rawValue): \(name)" }

    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "Cases")

    static let all: [LintCase] = FindingID.allCases.flatMap(cases)

    static func cases(of id: FindingID) -> [LintCase] {
        let file = folder.appending(path: "\(id.rawValue).txt")
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { return [] }
        var found: [LintCase] = []
        var name = ""
        var isFound = false
        var lines: [Substring] = []
        func end() {
            guard !name.isEmpty else { return }
            let code = lines.joined(separator: "\n")
            found.append(LintCase(id: id, name: name, isFound: isFound, code: code))
        }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("+ ") || line.hasPrefix("- ") {
                end()
                name = String(line.dropFirst(2))
                isFound = line.hasPrefix("+")
                lines = []
            } else {
                lines.append(line)
            }
        }
        end()
        return found
    }

    /// A linter with the rules and indexes that the cases refer to.
    static let linter: Linter = {
        var linter = Linter()
        linter.rules = try! Ruleset(rules)
        linter.indexes = try! IndexConfiguration(json: Data(indexes.utf8)).catalog
        return linter
    }()

    /// The first lines of every case.
    static let preamble = "import FirebaseFirestore\nlet db = Firestore.firestore()\n"

    static func report(on code: String) -> Report {
        linter.report(on: [(path: "Case.swift", text: preamble + code)])
    }

    private static let rules = """
        rules_version = '2';
        service cloud.firestore {
          match /databases/{database}/documents {
            match /notes/{note} {
              allow read: if request.auth.uid == resource.data.owner;
            }
            match /posts/{post} {
              allow list: if resource.data.isPublic == true && request.query.limit <= 50;
            }
            match /users/{user}/pets/{pet} { allow read: if request.auth.uid == user; }
            match /teams/{team}/tasks/{task} {
              allow read: if request.auth.uid in get(/databases/(default)/documents/teams/x).data.members;
            }
          }
        }
        """

    private static let indexes = """
        {"indexes": [{"collectionGroup": "messages", "queryScope": "COLLECTION", "fields": [
          {"fieldPath": "room", "order": "ASCENDING"}, {"fieldPath": "sentAt", "order": "DESCENDING"}
        ]}], "fieldOverrides": []}
        """
}
