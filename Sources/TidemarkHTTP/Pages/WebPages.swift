/// Pages that the control port serves in addition to its own routes. Conformer: the console.
public protocol WebPages: Sendable {
    /// - Returns: The answer; nil if there is no page at this path. The port then answers that the
    ///   page does not exist.
    func answer(_ request: PageRequest) async -> PageAnswer?
}

/// A request for a page, after ``WebPolicy`` has allowed it.
public struct PageRequest: Hashable, Sendable {
    public var method: String
    /// The path's segments, decoded; empty for `/`.
    public var path: [String]
    /// The query's names and values, decoded, in their order.
    public var query: [Parameter]
    /// At most ``maxBodyBytes``.
    public var body: [UInt8]
    /// The origin of the requesting page; nil if unknown.
    public var origin: String?

    public struct Parameter: Hashable, Sendable {
        public var name: String
        public var value: String

        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The maximum size of a body in bytes: twice the largest document that Firestore accepts, as
    /// JSON.
    public static let maxBodyBytes = 4_194_304

    public init(
        method: String = "GET", path: [String], query: [Parameter] = [], body: [UInt8] = [],
        origin: String? = nil
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.body = body
        self.origin = origin
    }

    /// The first value of a name; nil if there is none or it is empty.
    public subscript(name: String) -> String? {
        query.first { $0.name == name && !$0.value.isEmpty }?.value
    }
}

/// The answer to a ``PageRequest``.
public struct PageAnswer: Sendable {
    public enum Body: Sendable {
        case bytes([UInt8])
        /// Server-sent events. The stream ends when the reader leaves.
        case events(AsyncStream<ServerEvent>)
    }

    public var status: Int
    /// The content type.
    public var type: String
    /// The new address, for a status of 303.
    public var location: String?
    /// The version of the content, if browsers may store it; nil if they may not.
    public var version: String?
    public var body: Body
    /// True if pictures are part of the page, at `data:` addresses.
    public var containsPictures = false

    public init(
        status: Int = 200, type: String, location: String? = nil, version: String? = nil,
        body: Body
    ) {
        self.status = status
        self.type = type
        self.location = location
        self.version = version
        self.body = body
    }
}

/// An event of a stream, in the form of the HTML standard's section on server-sent events.
public struct ServerEvent: Hashable, Sendable {
    /// The event's name; nil for `message`.
    public var name: String?
    public var id: String?
    /// The data: a single line of text.
    public var data: String

    public init(name: String? = nil, id: String? = nil, data: String) {
        self.name = name
        self.id = id
        self.data = data
    }

    /// The bytes on the wire. A line break in a part would begin another field, so it becomes a
    /// space.
    var text: String {
        func line(_ text: String) -> String {
            String(text.map { $0.isNewline ? " " : $0 })
        }
        var lines: [String] = []
        if let name { lines.append("event: \(line(name))") }
        if let id { lines.append("id: \(line(id))") }
        lines.append("data: \(line(data))")
        return lines.joined(separator: "\n") + "\n\n"
    }
}

/// Pages of several kinds: the first that knows a path answers.
public struct PagesInOrder: WebPages {
    private let pages: [any WebPages]

    public init(_ pages: [any WebPages]) { self.pages = pages }

    public func answer(_ request: PageRequest) async -> PageAnswer? {
        for page in pages {
            if let answer = await page.answer(request) { return answer }
        }
        return nil
    }
}
