public import ExampleKit
public import Foundation
import Tidemark
import TidemarkApp
public import TidemarkFiles

/// The app's whole state. The screen is a pure function of it.
public struct StampsModel: Equatable, Sendable {
    public struct Line: Equatable, Sendable {
        public var id: String
        public var stamp: Stamp
        /// True if the stamp was added here and the server does not have it yet.
        public var isPending = false
    }

    public enum Place: Equatable, Sendable {
        /// The device's data is being opened.
        case opening
        case signIn
        case stamps
    }

    /// The state of the profile or the rank. Both come from disk or later, and block nothing.
    public enum Figure: Equatable, Sendable {
        case loading
        case known(String, isFresh: Bool)
        case unknown
    }

    public var place = Place.opening
    /// The stamps, newest first.
    public var lines: [Line] = []
    /// The ids of the stamps whose pictures are loaded.
    public var pictures: Set<String> = []
    /// The photos that are not sent yet, by the ids of their stamps.
    public var uploads: [String: WaitingFile] = [:]
    /// True if the user can add stamps with a photo.
    public var canAdd = false
    /// The reason why the last stamp was not added, as a sentence for the user.
    public var problem: String?
    public var state = Screen.State.loading
    /// The name in the profile.
    public var name: String?
    public var profile = Figure.loading
    public var rank = Figure.loading
    /// The result of the diagnosis; nil before it ends.
    public var connection: String?
    /// The message above the content, and the actions that the user can take.
    public var message: String?
    public var actions: [Control] = []

    public init() {}

    /// Shows figures that are still loading as unknown, in place of skeletons.
    mutating func giveUpFigures() {
        if profile == .loading { profile = .unknown }
        if rank == .loading { rank = .unknown }
    }

    /// - Parameter now: The time from which the stamps' ages are counted.
    public func screen(now: Date) -> Screen {
        switch place {
        case .opening: Screen("Stamps", .loading, sections: [Self.skeleton])
        case .signIn:
            Screen(
                "Stamps", signInState,
                controls: [Control("signIn", "Sign in", kind: .button(isMain: true))])
        case .stamps:
            Screen(
                "Stamps", shownState, sections: [figures, feed(now)],
                controls: actions + [Control("refresh", "Refresh")] + photoControls)
        }
    }

    /// The ways out for refused photos, and the field of a new stamp.
    private var photoControls: [Control] {
        var controls: [Control] = []
        if uploads.values.contains(where: \.isRefused) {
            controls = [
                Control("retryPhotos", "Send again"), Control("discardPhotos", "Discard"),
            ]
        }
        if canAdd {
            let field = Control.Kind.field(placeholder: "Name, country", button: "Add a photo")
            controls.append(Control("add", "New stamp", kind: field))
        }
        return controls
    }

    private var signInState: Screen.State {
        if case .failed = state { state } else { .empty("Sign in to see your stamps.") }
    }

    private var shownState: Screen.State {
        if lines.isEmpty, state == .fresh { return .empty("No stamps yet.") }
        guard case .stale(let age, _) = state, let message else { return state }
        return .stale(age: age, reason: message)
    }

    private var figures: Screen.Section {
        func row(_ id: String, _ title: String, figure: Figure) -> Row {
            switch figure {
            case .loading: Row(id, title, kind: .skeleton)
            case .known(let text, let isFresh):
                Row(
                    id, title, kind: .figure, detail: isFresh ? nil : "as last known",
                    trailing: text)
            case .unknown: Row(id, title, kind: .figure, trailing: "not known")
            }
        }
        var rows = [
            row("profile", name.map { "Stamps of \($0)" } ?? "Your stamps", figure: profile),
            row("rank", "Your rank", figure: rank),
        ]
        if let connection {
            rows.append(Row("connection", "Connection", kind: .figure, detail: connection))
        }
        if let problem {
            rows.append(Row("problem", "Not added", kind: .figure, detail: problem))
        }
        return Screen.Section(nil, rows)
    }

    private func feed(_ now: Date) -> Screen.Section {
        if lines.isEmpty { return Self.skeleton }
        let times = RelativeTime(timeZone: .gmt)
        return Screen.Section(
            "Newest",
            lines.enumerated().map { index, line in
                Row(
                    line.id, line.stamp.name, detail: line.stamp.country,
                    trailing: uploads[line.id]?.words
                        ?? times.text(for: line.stamp.createdAt, at: Timestamp(date: now)),
                    picture: Picture(of: line.stamp.country)
                ).with { row in
                    row.isDocument = true
                    row.isPending = line.isPending
                    if !line.hasPicture || index >= Paths.onScreen { return }
                    row.picture?.isLoaded = pictures.contains(line.id)
                }
            })
    }

    static let skeleton = Screen.Section(
        "Newest", (0..<4).map { Row("skeleton\($0)", "", kind: .skeleton) })
}

extension StampsModel.Line {
    /// True if the stamp has a picture or a photo.
    var hasPicture: Bool { stamp.picture != nil || stamp.photo != nil }
}
