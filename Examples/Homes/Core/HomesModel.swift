public import ExampleKit
public import Foundation
public import Tidemark
import TidemarkApp
public import TidemarkFiles

/// A document of `homes/HOME/members`.
public struct Member: Codable, Equatable, Sendable {
    public var name: String
    public var joinedAt: Timestamp
}

/// The app's whole state. The screen is a pure function of it.
public struct HomesModel: Equatable, Sendable {
    public struct Line: Equatable, Sendable {
        public var id: String
        public var member: Member
        public var isPending: Bool
    }

    public enum Place: Equatable, Sendable {
        case opening
        case signIn
        /// A step of the onboarding: 0 asks for the name, 1 for the home.
        case onboarding(step: Int)
        /// The account and the profile are being created or looked up.
        case settingUp
        case home
    }

    public var place = Place.opening
    public var name = ""
    public var home = ""
    /// The picture of the profile; nil if there is none.
    public var photo: StoredFile?
    /// True if the picture is loaded.
    public var isPhotoLoaded = false
    /// The picture that is not sent yet.
    public var upload: WaitingFile?
    /// True if the user can choose a picture.
    public var hasPhotos = false
    /// The members, newest first.
    public var lines: [Line] = []
    public var state = Screen.State.loading
    /// The message above the content, and the actions that the user can take.
    public var message: String?
    public var actions: [Control] = []

    public init() {}

    /// Takes the state of the launch, and the name of an earlier onboarding.
    mutating func follow(_ machine: LaunchMachine, draft: MapValue?) {
        let screen = machine.screen
        message = screen.message
        actions = screen.actions.compactMap { Self.control($0, on: screen) }
        if case .string(let name)? = draft?["name"] { self.name = name }
        switch screen.content {
        case .nothing, .local(nil): place = .opening
        case .local(.some):
            switch (machine.state, place) {
            // A user who has just signed in may have no profile yet.
            case (.signedIn, .signIn), (.signedIn, .settingUp), (.signedIn, .onboarding):
                place = .settingUp
            default: place = .home
            }
        case .signIn: place = .signIn
        case .onboarding(let step):
            switch machine.state {
            case .profilePending: place = .settingUp
            // The onboarding and its fields follow immediately.
            case .profileMissing: (place, message, actions) = (.settingUp, nil, [])
            // The user must sign in before the onboarding.
            case .onboarding(nil, _): place = .signIn
            default: place = .onboarding(step: min(step, 1))
            }
        }
    }

    private static func control(_ action: LaunchAction, on screen: LaunchScreen) -> Control? {
        switch action {
        case .tryAgain: Control("tryAgain", "Try again", kind: .button(isMain: true))
        case .giveUp: Control("giveUp", "Not now")
        // The sign-in screen has its own button, and without a problem there is no reason.
        case .signInAgain:
            screen.content == .signIn || screen.sentence == nil
                ? nil : Control("signInAgain", "Sign in again")
        case .resumeOnboarding, .beginSignUp, .goTo, .submit: nil
        }
    }

    /// - Parameter now: The time from which the members' ages are counted.
    public func screen(now: Date) -> Screen {
        switch place {
        case .opening: Screen("Homes", .loading)
        case .signIn:
            Screen(
                "Homes",
                told("begin") ?? .empty("Everything about your home, for everybody in it."),
                controls: [Control("begin", "Sign in with Apple", kind: .button(isMain: true))]
                    + actions)
        case .onboarding(let step): onboarding(step)
        case .settingUp:
            Screen("Setting up your home", told(actions.first?.id) ?? .loading, controls: actions)
        case .home: homeScreen(now)
        }
    }

    /// The message as a screen state; nil if there is none.
    private func told(_ wayOut: String?) -> Screen.State? {
        message.map { .failed(reason: $0, wayOut: wayOut) }
    }

    private func onboarding(_ step: Int) -> Screen {
        let known = name.isEmpty ? [] : [Row("name", "Your name", kind: .figure, trailing: name)]
        let field =
            step == 0
            ? Control("name", "Your name", kind: .field(placeholder: "Ada", button: "Next"))
            : Control("home", "Your home", kind: .field(placeholder: "Elm Street", button: "Done"))
        let state: Screen.State = message.map { .failed(reason: $0, wayOut: field.id) } ?? .quiet
        return Screen(
            step == 0 ? "Who are you?" : "Where do you live?", state,
            sections: [Screen.Section(nil, known)], controls: [field] + actions)
    }

    private func homeScreen(_ now: Date) -> Screen {
        let times = RelativeTime(timeZone: .gmt)
        var you = Row("you", "You", kind: .figure, trailing: name.isEmpty ? "…" : name)
        if photo != nil {
            you.picture = Picture(of: name)
            you.picture?.isLoaded = isPhotoLoaded
            you.detail = upload.map { "Picture: \($0.words.lowercased())" }
            you.isPending = upload != nil
        }
        let own = Screen.Section(
            nil, [you, Row("home", "Home", kind: .figure, trailing: home.isEmpty ? "…" : home)])
        let members = lines.map { line in
            Row(
                line.id, line.member.name,
                trailing: times.text(for: line.member.joinedAt, at: Timestamp(date: now)),
                picture: Picture(of: line.member.name)
            ).with {
                $0.isDocument = true
                $0.isPending = line.isPending
            }
        }
        let shown: Screen.State =
            switch state {
            case .stale(let age, let reason): .stale(age: age, reason: message ?? reason)
            case .loading, .fresh, .quiet, .failed, .empty: state
            }
        return Screen(
            "Homes", shown, sections: [own, Screen.Section("Neighbours", members)],
            controls: actions + photoControls)
    }

    /// The choice of a picture, and the ways out for a refused one.
    private var photoControls: [Control] {
        if !hasPhotos { return [] }
        let choice = Control("photo", "Choose a picture")
        guard upload?.isRefused == true else { return [choice] }
        return [Control("retryPhoto", "Send again"), Control("discardPhoto", "Discard"), choice]
    }
}

/// The app's collections and fields.
enum Paths {
    static let users = "users"
    static let photo = "photo"
    static let members = "homes/elm/members"
    static let joined = "joinedAt"
    static let updated = "updatedAt"
    static let deleted = "deletedAt"
    static let window = 50
}

/// A document of `users`. An account without one is incomplete.
struct Profile: Codable, Equatable, Sendable {
    var name: String
    var home: String
    var photo: StoredFile?
}
