import Foundation
import TidemarkModel
import TidemarkStore

func found(_ path: String, _ fields: MapValue = [:], at time: Int64 = 1) -> StoredDocument {
    let time = Timestamp(microseconds: time)
    return StoredDocument(
        path: DocumentPath(unchecked: path), kind: .found, contents: EncodedFields(fields),
        createTime: time, updateTime: time, readTime: time)
}

func missing(_ path: String) -> StoredDocument {
    StoredDocument(
        path: DocumentPath(unchecked: path), kind: .missing, contents: .empty,
        createTime: .epoch, updateTime: .epoch, readTime: .epoch)
}

/// A folder that is deleted when this object is released.
final class TemporaryFolder {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }
}
