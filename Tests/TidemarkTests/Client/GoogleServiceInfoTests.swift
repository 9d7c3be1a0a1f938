import Foundation
import Testing
import Tidemark

struct `The file of Firebase's console` {
    private func plist(_ entries: [String: Any]) throws -> Data {
        try PropertyListSerialization.data(fromPropertyList: entries, format: .xml, options: 0)
    }

    private let entries: [String: Any] = [
        "PROJECT_ID": "my-app", "API_KEY": "AIza-key", "GOOGLE_APP_ID": "1:2:ios:3",
        "BUNDLE_ID": "com.example.app", "GCM_SENDER_ID": "2", "IS_ADS_ENABLED": false,
        "PLIST_VERSION": "1",
    ]

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func `names the project, the key and the app`(
        format: PropertyListSerialization.PropertyListFormat
    ) throws {
        let data = try PropertyListSerialization.data(
            fromPropertyList: entries, format: format, options: 0)
        let info = try GoogleServiceInfo(data)
        #expect(info.projectID == "my-app" && info.apiKey == "AIza-key")
        #expect(info.appID == "1:2:ios:3" && info.bundleID == "com.example.app")
        #expect(info.senderID == "2" && info.storageBucket == nil)
    }

    @Test func `is read from where it lies`() throws {
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("\(UUID().uuidString).plist")
        try plist(entries).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let settings = FirestoreSettings(cache: .memory)
        let info = try GoogleServiceInfo(contentsOf: file)
        let firestore = try Firestore(projectID: info.projectID, settings: settings)
        #expect(firestore.databaseID.project == "my-app")
        let error = #expect(throws: FirestoreError.self) { try GoogleServiceInfo(of: .main) }
        #expect(error?.code == .notFound)
    }

    @Test(arguments: ["PROJECT_ID", "API_KEY", "GOOGLE_APP_ID"])
    func `says what it lacks`(key: String) throws {
        var entries = entries
        entries[key] = nil
        let data = try plist(entries)
        let error = #expect(throws: FirestoreError.self) { try GoogleServiceInfo(data) }
        #expect(error?.code == .invalidArgument && error?.detail.contains(key) == true)
        entries[key] = ""
        let empty = try plist(entries)
        #expect(throws: FirestoreError.self) { try GoogleServiceInfo(empty) }
    }

    @Test func `that is none is told`() {
        let error = #expect(throws: FirestoreError.self) {
            try GoogleServiceInfo(Data("{}".utf8))
        }
        #expect(error?.code == .invalidArgument)
    }
}
