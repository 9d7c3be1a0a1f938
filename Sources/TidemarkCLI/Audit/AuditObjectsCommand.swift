import ArgumentParser
import Foundation
import TidemarkAudit
import TidemarkModel
import TidemarkWire

struct AuditObjectsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "objects",
        abstract: "Find files without a document, and documents without their file.",
        discussion: """
            Compares the objects of a bucket with the documents whose fields name them: maps with \
            the path of an object, as TidemarkFiles writes them. Changes nothing. Exits with 0 if \
            nothing was found, 2 if something was found, and 1 if the audit failed. Without a host \
            in the options or the environment, it audits Google's services, as the service account \
            of GOOGLE_APPLICATION_CREDENTIALS or of the machine it runs on. TIDEMARK_TOKEN \
            replaces that account's token; on a local server it is the administrator's token.
            """)

    @OptionGroup var at: PlaceOptions

    @Option(help: "The bucket, as in my-project.firebasestorage.app.")
    var bucket: String

    @Option(
        help: ArgumentHelp(
            "A field with a file, in the documents of one collection, as in users:picture.",
            valueName: "collection:field"))
    var field: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            A field with a file, in the documents of all collections with this id, as in \
            messages:photo.
            """, valueName: "id:field"))
    var group: [String] = []

    @Option(help: "Judge only the objects whose names begin with this text, as in chats/.")
    var prefix = ""

    @Option(
        help: """
            The minimum age in seconds of an object without a document. The document of a younger \
            object may still be on its way.
            """)
    var grace = 86_400

    @Option(
        help: """
            HOST:PORT of a local server's files. (default: FIREBASE_STORAGE_EMULATOR_HOST)
            """)
    var storageHost: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if !(0...31_536_000).contains(grace) {
            throw ValidationError("--grace must be between 0 and 31536000 seconds.")
        }
        if field.isEmpty, group.isEmpty {
            throw ValidationError("No field is named: use --field or --group, as in users:picture.")
        }
        if bucket.isEmpty { throw ValidationError("--bucket must be the name of a bucket.") }
        _ = try fields()
    }

    private func fields() throws -> [AuditedField] {
        do {
            return try field.map { try AuditedField($0, isGroup: false) }
                + group.map { try AuditedField($0, isGroup: true) }
        } catch { throw ValidationError("\(error)") }
    }

    func run() async throws {
        let place = try await ObjectAuditPlace(
            bucket: bucket, host: at.host, storageHost: storageHost, project: at.project)
        let transport = GRPCTransport(place.firestore)
        let sentence = FirestorePlace.sentence(
            database: at.database, project: place.project, place.firestore)
        FileHandle.standardError.write(Data("\(sentence)\n".utf8))
        let report: ObjectReport
        do { report = try await audit(place, transport).run() } catch {
            await transport.close()
            let message = (error as? RPCStatus)?.message ?? "\(error)"
            throw CleanExit.message("tidemark audit: \(message)").asFailure
        }
        await transport.close()
        let text = ObjectReportText(report: report, fields: try fields())
        FileHandle.standardOutput.write(Data(((json ? text.json : text.text) + "\n").utf8))
        if report.count > 0 { throw ExitCode(2) }
    }

    func audit(_ place: ObjectAuditPlace, _ transport: GRPCTransport) throws -> ObjectAudit {
        do {
            return ObjectAudit(
                objects: place.objects,
                documents: FileFieldDirectory(
                    transport,
                    database: try DatabaseID(project: place.project, database: at.database),
                    fields: try fields(), tokens: place.tokens),
                prefix: prefix, grace: .seconds(grace),
                now: {
                    Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000))
                })
        } catch let error as InvalidPath { throw ValidationError(error.message) }
    }
}

/// A report for people, and for programs.
struct ObjectReportText {
    let report: ObjectReport
    let fields: [AuditedField]

    private struct Object: Encodable {
        let name: String
        let size: Int64
        let createdAt: String
    }

    private struct Naming: Encodable {
        let document, field, object: String
        let size: Int64?
    }

    private struct Findings<Item: Encodable>: Encodable {
        let count: Int
        let items: [Item]
    }

    private struct Output: Encodable {
        let count: Int
        let detectedAt: String
        let objects, documents, tooYoung, reads: Int
        let objectsWithoutDocument: Findings<Object>
        let documentsWithoutObject, otherSizes: Findings<Naming>
    }

    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let found = report.objectsWithoutDocument
        let output = Output(
            count: report.count, detectedAt: time(report.detectedAt.seconds),
            objects: report.objects, documents: report.documents, tooYoung: report.tooYoung,
            reads: report.reads,
            objectsWithoutDocument: Findings(
                count: found.count,
                items: found.items.map {
                    Object(name: $0.name, size: $0.size, createdAt: time($0.createdAt))
                }),
            documentsWithoutObject: findings(report.documentsWithoutObject),
            otherSizes: findings(report.otherSizes))
        return String(decoding: (try? encoder.encode(output)) ?? Data(), as: UTF8.self)
    }

    private func findings(
        _ found: ObjectReport.Findings<ObjectNaming>
    ) -> Findings<Naming> {
        Findings(
            count: found.count,
            items: found.items.map {
                Naming(
                    document: $0.document.text, field: fields[$0.field].name, object: $0.object,
                    size: $0.size)
            })
    }

    /// Names the first 20 findings of each kind.
    var text: String {
        let (objects, missing) = (report.objectsWithoutDocument, report.documentsWithoutObject)
        let bytes = objects.items.reduce(0) { $0 + $1.size }
        var lines = [
            "\(report.objects) objects, \(report.documents) documents with an object, "
                + "\(report.reads) reads",
            "objects without a document: \(objects.count), of \(bytes) bytes",
            "documents without their object: \(missing.count)",
            "documents with another size: \(report.otherSizes.count)",
        ]
        if report.tooYoung > 0 { lines.append("too young to be judged: \(report.tooYoung)") }
        lines += objects.items.prefix(20).map {
            "  object \($0.name), \($0.size) bytes, of \(time($0.createdAt))"
        }
        lines += missing.items.prefix(20).map {
            "  document \($0.document.text): its \(fields[$0.field].name) \($0.object) is missing"
        }
        lines += report.otherSizes.items.prefix(20).map {
            "  document \($0.document.text): its \(fields[$0.field].name) \($0.object) "
                + "has not \($0.size ?? 0) bytes"
        }
        return lines.joined(separator: "\n")
    }

    private func time(_ seconds: Int64) -> String {
        ISO8601DateFormatter().string(from: Date(timeIntervalSince1970: Double(seconds)))
    }
}
