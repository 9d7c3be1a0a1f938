import Synchronization
import TidemarkModel

/// The database of a stream. The first message names it; later messages may repeat the name.
final class SharedDatabase: Sendable {
    private let state = Mutex<Names?>(nil)

    func names(naming name: String) throws(RPCStatus) -> Names {
        guard let known = state.withLock({ $0 }) else {
            let names = Names(try Names.database(name))
            state.withLock { $0 = names }
            return names
        }
        if !name.isEmpty, !name.utf8.elementsEqual(known.database.name.utf8) {
            throw .invalidArgument("The database \"\(name)\" is not the one this stream is for.")
        }
        return known
    }

    /// - Precondition: A message has named the database. The server never answers before it has
    ///   received one.
    var names: Names {
        guard let names = state.withLock({ $0 }) else {
            preconditionFailure("a response before the first request")
        }
        return names
    }
}
