import Foundation

/// What lies between SQLite and the files of a store, where a test has put a layer of its own there: a
/// disk that loses what was not synced, or fails.
package enum StoreLayer {
    /// The name under which it is registered with SQLite, for stores that are opened within; nil for the
    /// system's.
    @TaskLocal package static var name: String?

    /// How a database is named to who cannot be asked for a layer.
    static func address(of path: String) -> String {
        guard let name else { return path }
        let safe = path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed)
        return safe.map { "file:\($0)?vfs=\(name)" } ?? path
    }
}
