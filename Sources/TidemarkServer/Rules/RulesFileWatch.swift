import Foundation
import Synchronization
import TidemarkModel
public import TidemarkRules

/// Keeps a server's rules in step with a file, also after changes.
public final class RulesFileWatch: Sendable {
    private struct State {
        var file: RulesFile
        var stamp: FileStamp?
    }

    private let path: String
    private let put: @Sendable (Ruleset) -> Void
    private let say: @Sendable (String) -> Void
    private let state: Mutex<State>

    /// Reads the file, and sets its rules on the server.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - server: The server of the rules.
    ///   - scope: The databases of the rules; nil for all.
    ///   - settings: Returns the settings for new rules.
    ///   - say: Takes a line for the server's operator.
    /// - Throws: ``InvalidRulesFile`` if the file has no valid rules at the start.
    public convenience init(
        _ path: String, for server: FirestoreServer, of scope: DatabaseScope? = nil,
        settings: @escaping @Sendable (Ruleset) -> RulesSettings,
        say: @escaping @Sendable (String) -> Void
    ) throws(InvalidRulesFile) {
        try self.init(path, service: .firestore, say: say) { rules in
            guard let scope else { return server.setRules(settings(rules)) }
            do throws(RPCStatus) { try server.setRules(settings(rules), of: scope) } catch {
                say("\(path): \(error.message)")
            }
        }
    }

    /// Reads the file, and puts its rules in force.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - service: The service whose rules are read.
    ///   - say: Takes a line for the server's operator.
    ///   - put: Puts rules in force.
    /// - Throws: ``InvalidRulesFile`` if the file has no valid rules at the start.
    package init(
        _ path: String, service: RulesService, say: @escaping @Sendable (String) -> Void,
        put: @escaping @Sendable (Ruleset) -> Void
    ) throws(InvalidRulesFile) {
        self.path = path
        self.put = put
        self.say = say
        state = Mutex(State(file: RulesFile(path, service: service)))
        let stamp = FileStamp(path)
        let problems = take(Self.read(path), stamp)
        if !problems.isEmpty { throw InvalidRulesFile(problems: problems.map { "\(path): \($0)" }) }
    }

    /// The problems of the present file; empty if its rules are in force.
    public var problems: [String] { state.withLock { $0.file.problems } }

    /// The file's path.
    public var name: String { path }

    /// Reads the file again if it has changed.
    ///
    /// - Parameter always: True to read the file in any case, because the filesystem's clock may be
    ///   coarse.
    public func look(always: Bool = false) {
        let stamp = FileStamp(path)
        guard always || state.withLock({ $0.stamp != stamp }) else { return }
        _ = take(Self.read(path), stamp)
    }

    /// Checks the file four times per second, until the task is cancelled.
    public func run() async {
        var round = 0
        while !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(250))
            round += 1
            look(always: round % 8 == 0)
        }
    }

    /// - Returns: The problems of the file.
    private func take(_ contents: RulesFile.Contents, _ stamp: FileStamp?) -> [String] {
        let (effects, problems) = state.withLock { state in
            state.stamp = stamp
            return (state.file.step(contents), state.file.problems)
        }
        for effect in effects {
            switch effect {
            case .put(let rules): put(rules)
            case .say(let line): say(line)
            }
        }
        return problems
    }

    private static func read(_ path: String) -> RulesFile.Contents {
        guard let file = FileHandle(forReadingAtPath: path) else {
            return .unreadable("The file cannot be read.")
        }
        defer { try? file.close() }
        // The language itself refuses a file that has a byte more than allowed.
        guard let data = try? file.read(upToCount: RulesLimits.sourceBytes + 1) else {
            return .unreadable("The file cannot be read.")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            return .unreadable("The file is not UTF-8.")
        }
        return .text(text)
    }
}

/// The reason why a server has no rules at its start.
public struct InvalidRulesFile: Error, Hashable, Sendable {
    /// The problems, each with the file's path and the place in it. Never empty.
    public let problems: [String]

    public var message: String { problems.joined(separator: "\n") }
}
