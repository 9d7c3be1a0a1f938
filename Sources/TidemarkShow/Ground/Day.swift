import ExampleKit
import Foundation
import Tidemark
import TidemarkPhones
import TidemarkRules
import TidemarkServer

/// One day of one app: a simulated project for each phone, and the folders with the phones' data.
struct Day: Sendable {
    let example: Example
    /// The number of the day, which keeps the data of days apart.
    let number: Int
    let folder: URL
    let start: Timestamp
    private(set) var projects: [PhoneSide: PhoneProject] = [:]

    /// Sets up the projects: accounts if the app uses them, and the data on the server.
    ///
    /// - Parameter startsIn: The time by which the server's clock is ahead, in seconds.
    init(
        _ example: Example, number: Int, startsIn: Double, in root: URL, on ground: ShowGround
    ) async throws {
        self.example = example
        self.number = number
        folder = root.appendingPathComponent("\(example.name)-\(number)")
        start = Timestamp(microseconds: ShowGround.now() + Int64(startsIn * 1_000_000))
        try ground.obey(example.rules)
        if example.hasPhotos { try CameraPhotos.write(2, to: photos) }
        for side in PhoneSide.allCases {
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent(side.rawValue), withIntermediateDirectories: true)
            let firestore = try Firestore(
                projectID: projectID(side),
                settings: FirestoreSettings(
                    host: ground.firestorePlace, isSSLEnabled: false, cache: .memory,
                    label: "project", token: "owner"))
            let email = "ada.\(example.name).\(number)@\(side.rawValue).test"
            var user = PhoneUser(id: "ada", name: "Ada", email: email)
            if example.hasAccount {
                user.id = try await user.signUp(
                    at: ground.accountsPlace,
                    secrets: folder.appendingPathComponent("\(side.rawValue)-desk").path)
            }
            var project = PhoneProject(firestore: firestore, user: user, dayStart: start)
            if example.hasPhotos {
                project.storage = PhoneStorage(bucket: bucket(side), address: ground.storageAddress)
                project.photos = photos.path
            }
            try await example.seed(project)
            projects[side] = project
        }
    }

    /// The photos of both phones.
    private var photos: URL { folder.appendingPathComponent("photos") }

    private func projectID(_ side: PhoneSide) -> String {
        "\(example.name)-\(number)-\(side.rawValue)"
    }

    private func bucket(_ side: PhoneSide) -> String { "\(projectID(side)).firebasestorage.app" }

    func label(_ side: PhoneSide) -> String { "\(example.name).\(number).\(side.rawValue)" }

    func settings(_ side: PhoneSide, _ ground: ShowGround) -> PhoneSettings {
        let places = ground.places(side)
        // Every side has a project.
        let project = projects[side]!
        var settings = PhoneSettings(
            folder: folder.appendingPathComponent(side.rawValue).path, project: projectID(side),
            firestore: places.firestore, accounts: places.accounts, user: project.user,
            label: label(side), token: RulesPerson.user(project.user.id).unsignedToken)
        settings.pictures = "http://\(places.pictures)/\(label(side))"
        if example.hasPhotos {
            settings.storage = PhoneStorage(
                bucket: bucket(side), address: "http://\(places.storage)")
            settings.photos = photos.path
        }
        if example.oldUse != nil {
            settings.oldStore = OldVersion.folder(
                in: settings.folder, project: settings.project)
        }
        return settings
    }

    /// Compares a screen with a full read.
    ///
    /// - Parameter ahead: The time by which the phones' clock is ahead, in seconds.
    func compare(
        _ side: PhoneSide, _ screen: Screen?, ahead: Double
    ) async throws -> PhoneState.Comparison {
        var project = projects[side]!
        project.now = Timestamp(microseconds: ShowGround.now() + Int64(ahead * 1_000_000))
        let truth = try await example.truth(project)
        let shown = screen?.documents ?? []
        return PhoneState.Comparison(
            count: truth.count, missing: Set(truth).subtracting(shown).count,
            extra: Set(shown).subtracting(truth).count + shown.count - Set(shown).count)
    }

    func end() async {
        for project in projects.values { await project.firestore.terminate() }
        try? FileManager.default.removeItem(at: folder)
    }
}
