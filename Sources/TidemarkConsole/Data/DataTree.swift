import TidemarkModel

/// The collections of a database, opened along the path to a place.
struct DataTree: Encodable {
    let nodes: [Node]

    struct Node: Encodable {
        let path: String
        let depth: Int
        /// The exact number up to ``DataReader/countLimit``; nil for a document.
        let documents: Int64?
        let isHere: Bool
    }

    /// The maximum number of opened levels.
    static let maxDepth = 12

    init(_ reader: DataReader, _ place: DataPlace) async throws(RPCStatus) {
        nodes = try await Self.nodes(below: nil, depth: 0, reader, place)
    }

    private static func nodes(
        below parent: DocumentPath?, depth: Int, _ reader: DataReader, _ place: DataPlace
    ) async throws(RPCStatus) -> [Node] {
        let here = place.path.joined(separator: "/")
        var nodes: [Node] = []
        for collection in try await reader.collections(
            of: parent, in: place.database, at: place.consistency)
        {
            let path = collection.path
            nodes.append(
                Node(
                    path: path, depth: depth, documents: collection.documents,
                    isHere: path.hasSameBytes(as: here)))
            let length = path.split(separator: "/").count
            guard length < place.path.count, depth < maxDepth,
                place.path.prefix(length).joined(separator: "/").hasSameBytes(as: path),
                let document = try? DocumentPath(
                    place.path.prefix(length + 1).joined(separator: "/"))
            else { continue }
            nodes.append(
                Node(
                    path: document.text, depth: depth + 1, documents: nil,
                    isHere: document.text.hasSameBytes(as: here)))
            nodes += try await self.nodes(below: document, depth: depth + 2, reader, place)
        }
        return nodes
    }

    func html(_ place: DataPlace) -> HTML {
        Tag.nav(.class("tree"), .label("Collections")) {
            Tag.ul {
                for node in nodes { item(node, place) }
            }
        }
    }

    private func item(_ node: Node, _ place: DataPlace) -> HTML {
        let segments = node.path.split(separator: "/").map(String.init)
        let name = Tag.bdi { segments.last ?? "" }
        let address = Attribute.href(place.address(segments))
        return Tag.li(.class("depth\(min(node.depth, 4))")) {
            if node.isHere { Tag.a(address, .current) { name } } else { Tag.a(address) { name } }
            if let documents = node.documents {
                Tag.small { documents > DataReader.countLimit ? "10 000+" : documents.grouped }
            }
        }
    }
}

/// The buttons that need the script; without it they are hidden.
struct Tools {
    enum Name: String {
        case create, paste, copy, rename, erase = "delete", eraseBelow = "delete-below"
    }

    let place: DataPlace
    let names: [(Name, String)]

    var html: HTML {
        Tag.p(
            .class("tools"), .data(.part, "tools"), .data(.path, place.path.joined(separator: "/")),
            .data(.key, PagePath([place.database.project, place.database.database]).text), .hidden
        ) {
            for (name, text) in names {
                let isDangerous = name == .erase || name == .eraseBelow
                Tag.button(
                    .type(.button), .data(.update, name.rawValue),
                    .class(isDangerous ? "danger" : "plain")
                ) { text }
            }
            Tag.output(.live)
        }
    }
}
