import ArgumentParser
import Foundation
import Tidemark
import TidemarkFiles

/// Sends files with their documents. Prints each journalled file and the number of waiting files. A
/// test kills this command, and starts it again on the same cache.
///
/// File `N.bin` of the folder belongs to document `photos/N`. Every third document is sent before
/// its file. If several processes share the cache, its present owner attaches and sends the files.
struct SendFilesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send-files", abstract: "Send files until stopped.", shouldDisplay: false)

    @Option(help: "The folder of the files.") var files: String
    @Option(help: "The number of files to attach, in the order of their numbers.") var count: Int
    @Option(help: "The folder of the cache and the queue.") var cache: String
    @Option(help: "HOST:PORT of Storage.") var storage: String
    @Option(help: "The bucket.") var bucket: String
    @Option(help: "Share the cache with other processes, as an app or as its helper.")
    var share: CacheShare?
    @Option(help: "The id of the app, which each request to Storage names.") var app: String?
    @OptionGroup var database: DriverDatabase

    func run() async throws {
        let firestore = try database.firestore(
            cache: cache, onBusyCache: share?.policy ?? .fail, label: "files")
        var settings = FileSettings(bucket: bucket)
        settings.address = "http://\(storage)"
        settings.appID = app
        let outbox = FileOutbox(firestore, settings)
        await outbox.start()
        for number in 0..<count { try await attach(number, firestore) }
        for await waiting in await outbox.updates() {
            if share != nil { say(firestore.isReadOnly ? "views" : "holds") }
            say("left \(waiting.count)")
            for file in waiting {
                switch file.state {
                case .failed(let problem): say("failed \(file.document) \(problem)")
                case .documentRefused: say("failed \(file.document) refused")
                default: break
                }
            }
            if waiting.isEmpty { break }
        }
        if !firestore.isReadOnly { try await firestore.waitForPendingWrites() }
        await outbox.stop()
        await firestore.terminate()
        say("sent all")
    }

    /// Attaches a file once: the cache knows the documents of earlier processes.
    private func attach(_ number: Int, _ firestore: Firestore) async throws {
        let document = firestore.document("photos/\(number)")
        if let known = try? await document.getDocument(source: .cache), known.exists {
            return say("known \(number)")
        }
        let file = URL(fileURLWithPath: files).appendingPathComponent("\(number).bin")
        let upload = FileUpload(file, policy: number % 3 == 1 ? .documentFirst : .fileFirst)
        _ = try await document.enqueueSetData(["number": number, "photo": upload])
        say("journalled \(number)")
    }

    /// Prints a line without a buffer, for a reader that reads while the process runs.
    private func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}
