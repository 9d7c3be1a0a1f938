import Tidemark
import TidemarkModel

/// The chat, to which others write.
final class DayChat {
    private let messages: CollectionReference
    private let server: ServerProcess
    private let direct: DirectServer
    private var count = 0
    /// The number of messages at the last pause.
    private var old = 0
    private var clock = start
    private static let start: Int64 = 1_780_000_000
    /// The seconds that have passed by the server's clock.
    var ahead: Int64 { clock - Self.start }

    init(messages: CollectionReference, server: ServerProcess) {
        self.messages = messages
        self.server = server
        direct = DirectServer(server)
    }

    /// The id of the newest message.
    var newest: String { "m\(count)" }

    /// Lets so much time pass that a listener does not resume: launches are hours apart.
    ///
    /// The server forgets its history up to a change elsewhere, which no device has seen. A
    /// listener that knew all of the history would resume.
    func pass() async throws {
        for time in [Ground.pause, Ground.resumable + Ground.pause] {
            clock += time
            try await server.setClock(secondsSince1970: clock)
            try await direct.forget(count - old)
        }
        old = count
    }

    /// Returns the bill of a version so far.
    func bill(of version: DayVersion) async throws -> Bill {
        try await server.bill(of: version.label)
    }

    /// Returns the sizes of messages by their numbers.
    static func rows(_ numbers: ClosedRange<Int>) -> [ExpectedRow] {
        let paths = numbers.map { DocumentPath(unchecked: "\(DayDemo.messages)/m\($0)") }
        let written = zip(paths, numbers).map { path, number in
            Mutation(
                path: path, .set(["text": .string(text(number)), "sentAt": .integer(0)]),
                transforms: [FieldTransform(FieldPath(name: "updatedAt"), .serverTimestamp)])
        }
        return WrittenDocuments(written).rows(paths)
    }

    private static func text(_ number: Int) -> String { "Message \(number)" }

    func close() async { await direct.close() }

    func send(_ number: Int) async throws {
        var left = number
        while left > 0 {
            let batch = messages.firestore.batch()
            for _ in 0..<min(left, 200) {
                count += 1
                batch.setData(
                    [
                        "text": Self.text(count),
                        "sentAt": Timestamp(seconds: Int64(count), nanoseconds: 0),
                        "updatedAt": FieldValue.serverTimestamp(),
                    ], forDocument: messages.document(newest))
            }
            left -= min(left, 200)
            // tidemark:ignore writes-in-loop a batch has a limited size
            try await batch.commit()
        }
    }
}
