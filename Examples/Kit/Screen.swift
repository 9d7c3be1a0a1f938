/// The content of one screen of an app, as a value. SwiftUI draws it on a phone, HTML in a browser,
/// and tests compare it.
///
/// A pure function makes the screen from an app's models. The screen holds only visible content.
public struct Screen: Codable, Equatable, Sendable {
    public var title: String
    /// The relation of the content to the server's data.
    public var state: State
    public var sections: [Section]
    /// The buttons and text fields at the bottom.
    public var controls: [Control]

    public init(
        _ title: String, _ state: State = .loading, sections: [Section] = [],
        controls: [Control] = []
    ) {
        self.title = title
        self.state = state
        self.sections = sections
        self.controls = controls
    }

    /// The state that a screen shows in its state line.
    public enum State: Codable, Equatable, Sendable {
        /// No data is known yet. The screen shows a skeleton, or the old app's spinner.
        case loading
        case fresh
        /// Content without its age, as old apps show it.
        case quiet
        /// Content that the device holds. The age is in seconds, or nil if it is unknown. The
        /// reason is a sentence for the user.
        case stale(age: Double?, reason: String)
        /// No content. The reason is a sentence for the user. The way out is the id of the control
        /// or row that helps; nil means a dead end.
        case failed(reason: String, wayOut: String?)
        /// The content is complete, and there are no items.
        case empty(String)
    }

    public struct Section: Codable, Equatable, Sendable {
        public var title: String?
        public var rows: [Row]

        public init(_ title: String? = nil, _ rows: [Row]) {
            self.title = title
            self.rows = rows
        }
    }

    /// True if the screen shows data: at least one row is not a skeleton.
    public var hasContent: Bool {
        sections.contains { $0.rows.contains { $0.kind != .skeleton } }
    }

    /// True if a row waits to be sent.
    public var isWaiting: Bool { sections.contains { $0.rows.contains { $0.isPending } } }

    /// The ids of all rows that show documents, in their order. Tests compare them with a full
    /// read.
    public var documents: [String] {
        sections.flatMap { $0.rows.filter(\.isDocument).map(\.id) }
    }
}

/// A line of a screen.
public struct Row: Codable, Equatable, Sendable, Identifiable {
    public enum Kind: Codable, Equatable, Sendable {
        case plain
        /// A message; shown on the right if the user wrote it.
        case bubble(isOwn: Bool)
        /// A figure with its name.
        case figure
        /// A figure with a bar for each value, the oldest first.
        case bars([Double])
        /// The progress of running work, from 0 to 1.
        case progress(Double)
        /// A placeholder while nothing is known.
        case skeleton
    }

    /// An id that is unique on the screen. A row that shows a document has the document's id.
    public var id: String
    public var kind: Kind
    public var title: String
    public var detail: String?
    /// The text on the right, such as a time or a figure.
    public var trailing: String?
    /// The number of unread items, such as "3", or a short word.
    public var badge: String?
    public var picture: Picture?
    /// The photograph of a message; nil until it is loaded.
    public var photo: Photo?
    /// True if the content was written here and the server does not have it yet.
    public var isPending = false
    public var isUnread = false
    /// True if the row shows one document of the app's list. Figures and hints do not.
    public var isDocument = false
    /// True if a tap has an effect. `PhoneApp.tap` then gets the id.
    public var isTappable = false

    public init(
        _ id: String, _ title: String, kind: Kind = .plain, detail: String? = nil,
        trailing: String? = nil, badge: String? = nil, picture: Picture? = nil
    ) {
        self.id = id
        self.kind = kind
        self.title = title
        self.detail = detail
        self.trailing = trailing
        self.badge = badge
        self.picture = picture
    }

    /// Returns the same row with some of its flags changed.
    public func with(_ change: (inout Row) -> Void) -> Row {
        var row = self
        change(&row)
        return row
    }
}

/// A small picture: a letter or a sign on a colour.
public struct Picture: Codable, Equatable, Sendable {
    /// The text, at most two characters.
    public var text: String
    /// The index of one of twelve colours, from 0.
    public var tint: Int
    /// True if the photograph is loaded; nil if the row has no photograph.
    public var isLoaded: Bool?

    public init(_ text: String, tint: Int) {
        precondition((0..<12).contains(tint))
        self.text = String(text.prefix(2))
        self.tint = tint
    }

    /// Makes a picture with the first letter of a name. A name always has the same colour.
    public init(of name: String) {
        let sum = name.utf8.reduce(7) { ($0 &* 31 &+ Int($1)) % 1_009 }
        self.init(name.prefix(1).uppercased(), tint: sum % 12)
    }
}

/// A button or a field that the user can use.
public struct Control: Codable, Equatable, Sendable, Identifiable {
    public enum Kind: Codable, Equatable, Sendable {
        case button(isMain: Bool)
        /// A text field with a button. A tap on the button passes the typed text.
        case field(placeholder: String, button: String)
        /// A text field for a search. Each change of its text is passed.
        case search(placeholder: String)
    }

    /// An id that is unique on the screen.
    public var id: String
    public var title: String
    public var kind: Kind
    public var isEnabled = true

    public init(_ id: String, _ title: String, kind: Kind = .button(isMain: false)) {
        self.id = id
        self.title = title
        self.kind = kind
    }
}
