import Foundation
import Tidemark

/// The old app: it listens to the whole collection at every open.
struct BeforeClient: DemoClient {
    let name = "before"
    let place: DemoPlace

    func open(ahead: Duration) async throws -> ClientOpen {
        var watch = OpenWatch()
        let firestore = try place.firestore(label: name)
        let items = firestore.collection(DemoPlace.collection)
            .order(by: DemoPlace.time, descending: true)
        var shown: [ShownItem] = []
        // tidemark:ignore unbounded-listener the app as it was
        for try await snapshot in items.snapshots(includeMetadataChanges: true) {
            guard !snapshot.metadata.isFromCache else {
                if !snapshot.isEmpty { watch.sawContent() }
                continue
            }
            shown = snapshot.documents.shownItems
            break
        }
        return ClientOpen(
            firstContent: watch.firstContent, shown: shown,
            bytes: await firestore.terminateCountingBytes())
    }
}
