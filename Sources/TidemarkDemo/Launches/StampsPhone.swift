import ExampleKit
import Foundation
import StampsCore
import TidemarkApp
import TidemarkPhones

/// A phone with one side's app of journeys 1 on it: each use of it is a process of its own.
struct StampsPhone: Sendable {
    let side: PhoneSide
    let folder: URL
    let user: PhoneUser
    /// `HOST:PORT` of the pictures.
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

    /// One launch, which is killed.
    ///
    /// - Parameters:
    ///   - ahead: Seconds that the phone's clock is ahead.
    ///   - isEnough: Asked after each screen.
    func launch(
        _ settings: PhoneSettings, ahead: Double, within patience: Duration,
        until isEnough: (PhoneUse) -> Bool
    ) async throws -> PhoneUse {
        try await PhoneUse.play(
            Example.stamps.name, side, settings, clock: ahead, patience: patience
        ) { isEnough($0) ? .kill : .wait }
    }
}

extension Screen {
    /// Of the app of journeys 1: its rows that show no stamp.
    private func figure(_ id: String) -> Row? {
        sections.lazy.flatMap(\.rows).first { $0.id == id && $0.kind == .figure }
    }

    /// What it says of the rank; nil as long as it says nothing.
    var rank: Row? { figure("rank") }
    var profile: Row? { figure("profile") }
    /// What the app has found out about its connection.
    var connection: String? { figure("connection")?.detail }

    /// The rows whose pictures belong on the screen, and whether each is there.
    var pictures: [String: Bool] {
        let rows = sections.flatMap(\.rows).compactMap { row in
            row.picture?.isLoaded.map { (row.id, $0) }
        }
        return Dictionary(rows, uniquingKeysWith: { first, _ in first })
    }

    var hasAllPictures: Bool { !pictures.isEmpty && pictures.values.allSatisfy(\.self) }

    /// Whether it says nothing that a person would take for old.
    var isUpToDate: Bool { state == .fresh || state == .quiet }

    /// What a person reads above the rows; nil for nothing.
    var remark: String? {
        switch state {
        case .stale(_, let reason), .failed(let reason, _): reason
        case .loading, .fresh, .quiet, .empty: nil
        }
    }

    /// Whether there is content, or a way out of a failure.
    var isUsable: Bool {
        if case .failed(_, let wayOut) = state { wayOut != nil } else { !documents.isEmpty }
    }
}
