import Synchronization

extension FirestoreServer {
    /// Performs what the core has to tell of indexes. Before the answers go out, so that whoever has
    /// one finds the file as it was promised. Only on the executor.
    func tellOfIndexes() {
        let notices = core.withLock { $0.indexes.takeNotices() }
        for notice in notices {
            switch notice {
            case .log(let line): environment.log(line)
            case .add(let index, let path):
                do throws(IndexFileError) { try environment.addIndexes([index], path) } catch {
                    environment.log("index not added: \(error.message)")
                }
            }
        }
    }
}
