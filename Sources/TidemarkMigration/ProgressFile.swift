import Foundation
package import TidemarkModel
import TidemarkSystem

/// The file with the progress of migrations. A killed migration continues from it.
package struct ProgressFile: Codable, Equatable, Sendable {
    /// The migration of one collection.
    package struct Entry: Codable, Equatable, Sendable {
        package let database: String
        package let collection: String
        package let field: String
        package var progress: FillProgress
        /// The windows of earlier migrations that finished, newest last.
        package var earlier: [WrittenWindow]
    }

    /// The reason why the file cannot be used.
    package struct Failure: Error, Hashable, Sendable {
        package let message: String
    }

    /// The maximum number of earlier windows of an entry. The oldest are dropped.
    package static let maxEarlier = 100
    private static let currentVersion = 1

    private var version = ProgressFile.currentVersion
    package private(set) var migrations: [Entry] = []

    package init() {}

    // MARK: Entries

    private func index(
        _ collection: MigratedCollection, _ field: FieldPath, in database: DatabaseID
    ) -> Int? {
        migrations.firstIndex {
            $0.database.hasSameBytes(as: database.name)
                && $0.collection.hasSameBytes(as: collection.description)
                && $0.field.hasSameBytes(as: field.encoded)
        }
    }

    /// Returns the unfinished progress of a collection; nil if there is none.
    package func unfinished(
        _ collection: MigratedCollection, _ field: FieldPath, in database: DatabaseID
    ) -> FillProgress? {
        index(collection, field, in: database).map { migrations[$0].progress }
            .flatMap { $0.isFinished ? nil : $0 }
    }

    /// Returns the times between which migrations have written to a collection.
    package func windows(
        _ collection: MigratedCollection, _ field: FieldPath, in database: DatabaseID
    ) -> [WrittenWindow] {
        guard let index = index(collection, field, in: database) else { return [] }
        return migrations[index].earlier + [migrations[index].progress.window].compactMap { $0 }
    }

    /// Sets the progress of a collection. The window of a finished one is kept beside the new one.
    package mutating func set(
        _ progress: FillProgress, of collection: MigratedCollection, field: FieldPath,
        in database: DatabaseID
    ) {
        guard let index = index(collection, field, in: database) else {
            migrations.append(
                Entry(
                    database: database.name, collection: collection.description,
                    field: field.encoded, progress: progress, earlier: []))
            return
        }
        let old = migrations[index].progress
        if old.isFinished, let window = old.window, window.from != progress.window?.from {
            migrations[index].earlier.append(window)
            migrations[index].earlier = migrations[index].earlier.suffix(Self.maxEarlier)
        }
        migrations[index].progress = progress
    }

    // MARK: Disk

    /// Reads a file; an empty one if there is none.
    package static func read(_ path: String) throws(Failure) -> ProgressFile {
        let bytes: [UInt8]?
        do { bytes = try DurableFile(path: path).read() } catch {
            throw Failure(message: "The progress file \(path): \(error.detail)")
        }
        guard let bytes else { return ProgressFile() }
        guard let file = try? JSONDecoder().decode(ProgressFile.self, from: Data(bytes)) else {
            throw Failure(
                message: """
                    \(path) is not a progress file of tidemark migrate. Name another one with \
                    --progress, or remove it: the documents are then read from the first.
                    """)
        }
        guard file.version == currentVersion else {
            throw Failure(message: "\(path) is of another version of tidemark migrate.")
        }
        return file
    }

    /// Writes the file, which is on disk when the function returns.
    package func write(_ path: String) throws(Failure) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Texts and numbers can always be encoded.
        let data = (try? encoder.encode(self)) ?? Data()
        do { try DurableFile(path: path).write([UInt8](data)) } catch {
            throw Failure(message: "The progress file \(path): \(error.detail)")
        }
    }
}
