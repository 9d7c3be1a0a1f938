import Synchronization
import Testing
import Tidemark
import TidemarkTesting

@Suite(.timeLimit(.minutes(2))) struct `The log` {
    @Test func `goes where the app wants it`() async throws {
        let lines = Mutex<[LogLine]>([])
        Firestore.log(to: LogSink { line in lines.withLock { $0.append(line) } })
        defer { Firestore.log(to: .standardError) }
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        firestore.settings = FirestoreSettings()
        let expected = LogLine(
            level: .fault, text: "Settings are set before the first use; these are ignored.")
        #expect(lines.withLock { $0.contains(expected) })
        await local.stop()
    }
}
