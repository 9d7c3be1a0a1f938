import Testing
import Tidemark
import TidemarkTesting

@Suite(.timeLimit(.minutes(2))) struct `The log` {
    @Test func `goes where the app wants it`() async throws {
        KeptLog.begin()
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        firestore.settings = FirestoreSettings()
        let expected = LogLine(
            level: .fault,
            text: "Set the settings before the first use. These settings are ignored.")
        #expect(KeptLog.lines.contains(expected))
        await local.stop()
    }
}
