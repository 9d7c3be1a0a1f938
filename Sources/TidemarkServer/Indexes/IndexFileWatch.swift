import Foundation
import Synchronization
import TidemarkModel

/// Keeps the indexes of some databases in step with a `firestore.indexes.json`, also after changes.
public final class IndexFileWatch: Sendable {
    private struct State {
        var stamp: FileStamp?
        var configuration: IndexConfiguration?
        /// The problem of the present file; nil if its indexes are in force.
        var problem: String?
    }

    /// The file's path.
    public let name: String
    public let scope: DatabaseScope
    private let policy: IndexPolicy
    private let server: FirestoreServer
    private let say: @Sendable (String) -> Void
    private let state = Mutex(State())

    /// Reads the file, and puts its indexes in force.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - scope: The databases of the indexes.
    ///   - policy: The handling of queries without an index.
    ///   - server: The server of the indexes.
    ///   - say: Takes a line for the server's operator.
    /// - Throws: ``IndexFileError`` if the file has no valid indexes at the start.
    public init(
        _ path: String, of scope: DatabaseScope = .others, policy: IndexPolicy,
        for server: FirestoreServer, say: @escaping @Sendable (String) -> Void
    ) throws(IndexFileError) {
        name = path
        self.scope = scope
        self.policy = policy
        self.server = server
        self.say = say
        let stamp = FileStamp(path)
        try take(try IndexFile.read(path, policy: policy), stamp)
    }

    /// The problem of the present file; nil if its indexes are in force.
    public var problem: String? { state.withLock { $0.problem } }

    /// Reads the file again if it has changed. The previous indexes stay in force if it is invalid.
    ///
    /// - Parameter always: True to read the file in any case, because the filesystem's clock may be
    ///   coarse.
    public func look(always: Bool = false) {
        let stamp = FileStamp(name)
        guard always || state.withLock({ $0.stamp != stamp }) else { return }
        do throws(IndexFileError) {
            try take(try IndexFile.read(name, policy: policy), stamp)
        } catch {
            let isNew = state.withLock { state in
                defer { (state.stamp, state.problem) = (stamp, error.message) }
                return state.problem != error.message
            }
            if isNew {
                say(error.message)
                say("\(name): The previous indexes stay in force.")
            }
        }
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

    private func take(_ settings: IndexSettings, _ stamp: FileStamp?) throws(IndexFileError) {
        let configuration = settings.configuration
        let (isFirst, hadProblem, isNew) = state.withLock { state in
            defer {
                state.stamp = stamp
                state.configuration = configuration
                state.problem = nil
            }
            return (
                state.configuration == nil, state.problem != nil,
                state.configuration != configuration
            )
        }
        if !isNew {
            if hadProblem { say("\(name): The indexes of the file are in force.") }
            return
        }
        // The policy `auto` has written what the server has already.
        if !isFirst, server.indexes(of: scope) == configuration { return }
        do throws(RPCStatus) { try server.setIndexes(settings, of: scope) } catch {
            throw IndexFileError("\(name): \(error.message)")
        }
        for remark in configuration.remarks { say("\(name): \(remark)") }
        if !isFirst { say("\(name): The new indexes are in force.") }
    }
}
