package import Foundation
package import TidemarkModel

/// Writes an event of a document in the form of the first generation of functions.
package enum DocumentEventJSON {
    /// The parts of an event besides its documents.
    package struct Context: Sendable {
        package var eventID: String
        package var type: String
        package var time: Timestamp
        package var path: DocumentPath
        package var database: DatabaseID

        package init(
            eventID: String, type: String, time: Timestamp, path: DocumentPath,
            database: DatabaseID
        ) {
            self.eventID = eventID
            self.type = type
            self.time = time
            self.path = path
            self.database = database
        }
    }

    /// Returns `{"data": {"value", "oldValue", "updateMask"}, "context": {…}}`. Documents have
    /// REST's form; one that does not exist is omitted.
    ///
    /// - Parameters:
    ///   - fieldPaths: The fields that differ; none for a document that is new or removed.
    ///   - context: The parts besides the documents.
    package static func data(
        after: Document?, before: Document?, fieldPaths: [FieldPath], context: Context
    ) -> Data {
        var data: [JSONOutput.Member] = []
        if let after { data.append(.init("value", .document(after, in: context.database))) }
        if let before { data.append(.init("oldValue", .document(before, in: context.database))) }
        let paths = fieldPaths.map { JSONOutput.text($0.encoded) }
        let mask: [JSONOutput.Member] = paths.isEmpty ? [] : [.init("fieldPaths", .list(paths))]
        data.append(.init("updateMask", .object(mask)))
        let resource: [JSONOutput.Member] = [
            .init("name", .text(context.path.name(in: context.database))),
            .init("service", .text("firestore.googleapis.com")),
        ]
        let about: [JSONOutput.Member] = [
            .init("eventId", .text(context.eventID)),
            .init("timestamp", .text(context.time.rfc3339)),
            .init("eventType", .text(context.type)), .init("resource", .object(resource)),
        ]
        return JSONOutput.object([
            .init("data", .object(data)), .init("context", .object(about)),
        ]).data()
    }
}
