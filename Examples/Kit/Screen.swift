/// What one screen of an app shows, as a value: drawn by SwiftUI on a phone, by HTML in a browser, and
/// compared in tests.
///
/// It is made from an app's models by a pure function. It holds nothing that a person does not see.
public struct Screen: Codable, Equatable, Sendable {
    public var title: String
    /// Where its content stands with the server.
    public var state: State
    public var sections: [Section]
    /// Buttons and text fields at its foot.
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

    /// The state line.
    public enum State: Codable, Equatable, Sendable {
        /// Nothing is known yet: a skeleton, or the old app's spinner.
        case loading
        case fresh
        /// Content, and not a word about how old it is: as old apps show it.
        case quiet
        /// What the device holds. The age is in seconds, nil where it is not known; the reason is a
        /// sentence for a person.
        case stale(age: Double?, reason: String)
        /// A sentence for a person, and the id of the control or row that leads out of it; nil for none,
        /// which is a dead end.
        case failed(reason: String, wayOut: String?)
        /// Complete, and nothing is there.
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

    /// Whether it shows anything that was read: a row that is no skeleton.
    public var hasContent: Bool {
        sections.contains { $0.rows.contains { $0.kind != .skeleton } }
    }

    /// The ids of all rows of documents, in their order: what is compared with a full read.
    public var documents: [String] {
        sections.flatMap { $0.rows.filter(\.isDocument).map(\.id) }
    }
}

/// One line of a screen.
public struct Row: Codable, Equatable, Sendable, Identifiable {
    public enum Kind: Codable, Equatable, Sendable {
        case plain
        /// A message; on the right when it is the person's own.
        case bubble(isOwn: Bool)
        /// A figure with its name.
        case figure
        /// A figure with a bar for each value, the oldest first.
        case bars([Double])
        /// Work that goes on, in 0 ... 1.
        case progress(Double)
        /// What is drawn before anything is known.
        case skeleton
    }

    /// Unique on its screen. Of a row that shows a document, the document's id.
    public var id: String
    public var kind: Kind
    public var title: String
    public var detail: String?
    /// A time, a figure: on the right.
    public var trailing: String?
    /// As in "3": a number of unread items, or a short word.
    public var badge: String?
    public var picture: Picture?
    /// Written here, and not yet at the server.
    public var isPending = false
    public var isUnread = false
    /// Whether it shows one document of the app's list; figures and hints do not.
    public var isDocument = false
    /// Whether a tap on it does anything: `PhoneApp.tap` gets its id.
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

    /// The same row with some of its marks set.
    public func with(_ change: (inout Row) -> Void) -> Row {
        var row = self
        change(&row)
        return row
    }
}

/// A small picture: a letter or a sign on a colour.
public struct Picture: Codable, Equatable, Sendable {
    /// At most two characters.
    public var text: String
    /// One of twelve colours, from 0.
    public var tint: Int
    /// Whether the photograph is there that this stands for; nil where there is none.
    public var isLoaded: Bool?

    public init(_ text: String, tint: Int) {
        precondition((0..<12).contains(tint))
        self.text = String(text.prefix(2))
        self.tint = tint
    }

    /// The first letter of a name, in the colour that the name always has.
    public init(of name: String) {
        let sum = name.utf8.reduce(7) { ($0 &* 31 &+ Int($1)) % 1_009 }
        self.init(name.prefix(1).uppercased(), tint: sum % 12)
    }
}

/// Something that a person can use.
public struct Control: Codable, Equatable, Sendable, Identifiable {
    public enum Kind: Codable, Equatable, Sendable {
        case button(isMain: Bool)
        /// A field with its button: what is typed comes with the tap.
        case field(placeholder: String, button: String)
        /// A field that tells each change of its text, for a search.
        case search(placeholder: String)
    }

    /// Unique on its screen.
    public var id: String
    public var title: String
    public var kind: Kind
    public var isEnabled = true

    public init(_ id: String, _ title: String, _ kind: Kind = .button(isMain: false)) {
        self.id = id
        self.title = title
        self.kind = kind
    }
}
