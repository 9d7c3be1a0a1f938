import ExampleKit
import Foundation
import Tidemark
import TidemarkPhones
import TidemarkRules
import TidemarkServer

/// One day of one app: a town for each phone, and where the phones keep what they have.
struct Day: Sendable {
    let example: Example
    /// Counts the days, so that none finds what another has left.
    let number: Int
    let folder: URL
    let start: Timestamp
    private(set) var towns: [PhoneSide: Town] = [:]

    /// Makes the towns: accounts where the app has them, and what is on the server.
    ///
    /// - Parameter startsIn: Seconds that the server's clock is ahead.
    init(
        _ example: Example, number: Int, startsIn: Double, in root: URL, on ground: ShowGround
    ) async throws {
        self.example = example
        self.number = number
        folder = root.appendingPathComponent("\(example.name)-\(number)")
        start = Timestamp(microseconds: ShowGround.now() + Int64(startsIn * 1_000_000))
        try ground.obey(example.rules)
        for side in PhoneSide.allCases {
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent(side.rawValue), withIntermediateDirectories: true)
            let firestore = try Firestore(
                projectID: project(side),
                settings: FirestoreSettings(
                    host: ground.firestorePlace, isSSLEnabled: false, cache: .memory,
                    label: "town", token: "owner"))
            let email = "ada.\(example.name).\(number)@\(side.rawValue).test"
            var user = PhoneUser(id: "ada", name: "Ada", email: email)
            if example.hasAccount {
                user.id = try await user.signUp(
                    at: ground.accountsPlace,
                    secrets: folder.appendingPathComponent("\(side.rawValue)-desk").path)
            }
            let town = Town(firestore: firestore, user: user, dayStart: start)
            try await example.seed(town)
            towns[side] = town
        }
    }

    private func project(_ side: PhoneSide) -> String {
        "\(example.name)-\(number)-\(side.rawValue)"
    }

    func label(_ side: PhoneSide) -> String { "\(example.name).\(number).\(side.rawValue)" }

    func settings(_ side: PhoneSide, _ ground: ShowGround) -> PhoneSettings {
        let places = ground.places(side)
        // There is one for each side.
        let town = towns[side]!
        var settings = PhoneSettings(
            folder: folder.appendingPathComponent(side.rawValue).path, project: project(side),
            firestore: places.firestore, accounts: places.accounts, user: town.user,
            label: label(side), token: RulesPerson.user(town.user.id).unsignedToken)
        settings.pictures = "http://\(places.pictures)/\(label(side))"
        return settings
    }

    /// Beside a full read.
    ///
    /// - Parameter ahead: Seconds that the phones' clock is ahead.
    func compare(
        _ side: PhoneSide, _ screen: Screen?, ahead: Double
    ) async throws -> PhoneState.Comparison {
        var town = towns[side]!
        town.now = Timestamp(microseconds: ShowGround.now() + Int64(ahead * 1_000_000))
        let truth = try await example.truth(town)
        let shown = screen?.documents ?? []
        return PhoneState.Comparison(
            count: truth.count, missing: Set(truth).subtracting(shown).count,
            extra: Set(shown).subtracting(truth).count + shown.count - Set(shown).count)
    }

    func end() async {
        for town in towns.values { await town.firestore.terminate() }
        try? FileManager.default.removeItem(at: folder)
    }
}
