public import ExampleKit
public import Foundation
import Tidemark
import TidemarkApp

/// All that the app knows; its screen is a function of it.
public struct StampsModel: Equatable, Sendable {
    public struct Line: Equatable, Sendable {
        public var id: String
        public var stamp: Stamp
    }

    public enum Place: Equatable, Sendable {
        /// The device's own data is being opened.
        case opening
        case signIn
        case stamps
    }

    /// Of the profile and the rank, which come from disk or later, and block nothing.
    public enum Figure: Equatable, Sendable {
        case loading
        case known(String, isFresh: Bool)
        case unknown
    }

    public var place = Place.opening
    /// Newest first.
    public var lines: [Line] = []
    /// The stamps whose pictures are there, by their ids.
    public var pictures: Set<String> = []
    public var state = Screen.State.loading
    /// Of the profile.
    public var name: String?
    public var profile = Figure.loading
    public var rank = Figure.loading
    /// What a diagnosis has found; nil before it has.
    public var connection: String?
    /// What is said above the content, and what a person can do about it.
    public var message: String?
    public var actions: [Control] = []

    public init() {}

    /// What is not known by now is no skeleton any more.
    mutating func giveUpFigures() {
        if profile == .loading { profile = .unknown }
        if rank == .loading { rank = .unknown }
    }

    /// - Parameter now: For the ages of the stamps.
    public func screen(now: Date) -> Screen {
        switch place {
        case .opening: Screen("Stamps", .loading, sections: [Self.skeleton])
        case .signIn:
            Screen(
                "Stamps", signInState,
                controls: [Control("signIn", "Sign in", .button(isMain: true))])
        case .stamps:
            Screen(
                "Stamps", shownState, sections: [figures, feed(now)],
                controls: actions + [Control("refresh", "Refresh")])
        }
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
        func row(_ id: String, _ title: String, _ figure: Figure) -> Row {
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
            row("profile", name.map { "Stamps of \($0)" } ?? "Your stamps", profile),
            row("rank", "Your rank", rank),
        ]
        if let connection {
            rows.append(Row("connection", "Connection", kind: .figure, detail: connection))
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
                    trailing: times.text(for: line.stamp.createdAt, at: Timestamp(date: now)),
                    picture: Picture(of: line.stamp.country)
                ).with { row in
                    row.isDocument = true
                    if line.stamp.picture == nil || index >= Paths.onScreen { return }
                    row.picture?.isLoaded = pictures.contains(line.id)
                }
            })
    }

    static let skeleton = Screen.Section(
        "Newest", (0..<4).map { Row("skeleton\($0)", "", kind: .skeleton) })
}
