import Foundation
import TidemarkModel
import TidemarkRules

/// The cost of rules alone. It is measured in this process, because a call over a socket costs more
/// than the rules.
extension BarSuite {
    func rules() throws {
        let rules = try Ruleset(RulesWorkload.file)
        let lines = RulesWorkload.file.count { $0 == "\n" }
        let database = RulesWorkload.Database()
        var coverage = RulesCoverage(of: rules)
        for (bar, tracing) in [(Bar.rulesGet, RulesJudge.Tracing.never), (.rulesTrace, .always)] {
            let micros = try median(2_000) { round in
                // A round has ten evaluations, because one is close to the clock's resolution.
                for number in 0..<10 {
                    var judge = RulesJudge(
                        rules, as: RulesCaller(uid: "ann"), at: .epoch, of: database,
                        tracing: tracing)
                    let path = try DocumentPath("rooms/r\(round)/messages/m\(number)")
                    let judgement = try judge.judge(get: path)
                    guard judgement.isAllowed else { return 0 }
                    if tracing == .always { coverage.note(judgement) }
                }
                return 10
            }
            check(bar, micros / 10, detail: "\(lines) lines")
        }
        let writes = try (0..<500).map { number in
            Mutation(
                path: try DocumentPath("rooms/blue/messages/m\(number)"),
                .set(["text": .string("hello"), "sender": .string("ann")]))
        }
        let commit = try median(20) { _ in
            var judge = RulesJudge(
                rules, as: RulesCaller(uid: "ann"), at: .epoch, of: RulesWorkload.Empty(),
                operations: writes.count)
            return try judge.judge(writes).count { $0.isAllowed } == 500 ? 1 : 0
        }
        check(.rulesCommit, commit / 1_000)
        let large = RulesWorkload.large
        let load = try median(5) { _ in try Ruleset(large).source.text.isEmpty ? 0 : 1 }
        check(.rulesLoad, load / 1_000, detail: "\(large.utf8.count / 1_024) KB")
    }
}

/// Rules as apps write them, and documents that the rules accept.
enum RulesWorkload {
    struct Database: RulesDatabase {
        func fields(of document: DocumentPath) -> MapValue? {
            switch document.collectionID {
            case "rooms": ["members": .array([.string("bob"), .string("ann")])]
            case "users": ["blocked": .array([]), "role": .string("user")]
            default: ["text": .string("hello"), "sender": .string("bob")]
            }
        }
    }

    /// A room with members and without messages.
    struct Empty: RulesDatabase {
        func fields(of document: DocumentPath) -> MapValue? {
            document.collectionID == "messages" ? nil : Database().fields(of: document)
        }
    }

    private static let head = """
        rules_version = '2';
        service cloud.firestore {
          match /databases/{database}/documents {
            function signedIn() { return request.auth != null && request.auth.uid != null; }
            function isUser(uid) { return signedIn() && request.auth.uid == uid; }
            function room(id) { return get(/databases/$(database)/documents/rooms/$(id)).data; }
            function isMember(id) { return signedIn() && request.auth.uid in room(id).members; }
            function hasOnly(keys) { return request.resource.data.keys().hasOnly(keys); }
            match /rooms/{room} {
              allow read: if signedIn() && request.auth.uid in resource.data.members;
              match /messages/{message} {
                allow read: if isMember(room);
                allow create: if isMember(room) && hasOnly(['text', 'sender'])
                  && request.resource.data.sender == request.auth.uid
                  && request.resource.data.text is string
                  && request.resource.data.text.size() < 2000;
                allow delete: if isMember(room) && resource.data.sender == request.auth.uid;
              }
            }

        """

    /// Returns the rules for one collection of an app: owners write, with checked fields.
    private static func collection(_ number: Int) -> String {
        """
            match /things\(number)/{id} {
              function isValid(data) {
                return data.title is string && data.title.matches('[a-z]{1,40}')
                  && data.count is int && data.count >= 0;
              }
              allow get: if isUser(resource.data.owner);
              allow list: if isUser(resource.data.owner) && request.query.limit <= 50;
              allow create: if isUser(request.resource.data.owner) && isValid(request.resource.data);
              allow update: if isUser(resource.data.owner) && isValid(request.resource.data)
                && request.resource.data.diff(resource.data).affectedKeys().hasOnly(['title', 'count']);
              allow delete: if isUser(resource.data.owner);
            }

        """
    }

    private static func text(_ collections: Int) -> String {
        // This is the longest path, because the requested collection follows all others, too.
        head + (0..<collections).map(collection).joined() + "  }\n}\n"
    }

    /// Rules of 300 lines.
    static let file = text(22)

    /// Rules of the maximum size in production.
    static let large: String = {
        let each = collection(1_000).utf8.count
        return text((RulesLimits.sourceBytes - head.utf8.count - 64) / each)
    }()
}
