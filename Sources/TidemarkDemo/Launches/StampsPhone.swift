import ExampleKit
import Foundation
import StampsCore
import TidemarkApp
import TidemarkPhones

/// A phone with one side's app of journeys 1. Each use is a separate process.
struct StampsPhone: Sendable {
    let side: PhoneSide
    let folder: URL
    let user: PhoneUser
    /// The address of the pictures as `HOST:PORT`.
    let pictures: String

    func settings(
        _ place: LaunchPlace, _ label: String, diagnoses: Bool = true
    ) -> PhoneSettings {
        var settings = PhoneSettings(
            folder: folder.appendingPathComponent(side.rawValue).path, project: DemoPlace.project,
            firestore: place.firestore, accounts: place.accounts, user: user, label: label)
        settings.pictures = "http://\(pictures)/\(side.rawValue)"
        settings.diagnoses = diagnoses
        return settings
    }

    /// Launches the app, and kills it when it has shown enough.
    ///
    /// - Parameters:
    ///   - ahead: The number of seconds by which the phone's clock is ahead.
    ///   - isEnough: Called after each screen. Returns true to end the launch.
    func launch(
        _ settings: PhoneSettings, ahead: Double, within patience: Duration,
        until isEnough: (PhoneUse) -> Bool
    ) async throws -> PhoneUse {
        try await PhoneUse.play(
            Example.stamps.name, side: side, settings: settings, clock: ahead, patience: patience
        ) { isEnough($0) ? .kill : .wait }
    }
}

extension Screen {
    /// Returns a row of the app of journeys 1 that shows a figure and no stamp.
    private func figure(_ id: String) -> Row? {
        sections.lazy.flatMap(\.rows).first { $0.id == id && $0.kind == .figure }
    }

    /// The row with the rank; nil before the app shows a rank.
    var rank: Row? { figure("rank") }
    var profile: Row? { figure("profile") }
    /// The app's text about its connection.
    var connection: String? { figure("connection")?.detail }

    /// The rows that have pictures, and whether each picture is loaded.
    var pictures: [String: Bool] {
        let rows = sections.flatMap(\.rows).compactMap { row in
            row.picture?.isLoaded.map { (row.id, $0) }
        }
        return Dictionary(rows, uniquingKeysWith: { first, _ in first })
    }

    var hasAllPictures: Bool { !pictures.isEmpty && pictures.values.allSatisfy(\.self) }

    /// True if nothing on the screen looks outdated to the user.
    var isUpToDate: Bool { state == .fresh || state == .quiet }

    /// The text above the rows; nil if there is none.
    var remark: String? {
        switch state {
        case .stale(_, let reason), .failed(let reason, _): reason
        case .loading, .fresh, .quiet, .empty: nil
        }
    }

    /// True if there is content, or an action after a failure.
    var isUsable: Bool {
        if case .failed(_, let wayOut) = state { wayOut != nil } else { !documents.isEmpty }
    }
}
