import Foundation
package import TidemarkHTTP
import TidemarkModel

/// A page: a value that is rendered as HTML, or encoded as JSON.
protocol Page: Encodable {
    var title: String { get }
    /// The entry of the navigation to which the page belongs.
    var section: Section { get }
    /// The data that the page's modules fetch first. The browser fetches them together with the
    /// modules.
    var fetches: [PagePath] { get }
    /// The content below the title.
    var body: HTML { get }
}

extension Page {
    var fetches: [PagePath] { [] }
}

enum Section: String, CaseIterable {
    case data, query, traffic, cost, history, indexes, rules, accounts, objects, faults

    var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
}

/// The form in which a page is requested.
enum PageForm {
    case html, json

    func answer(_ page: some Page, status: Int = 200) -> PageAnswer {
        switch self {
        case .html: .html(page, status: status)
        case .json: .json(page, status: status)
        }
    }
}

extension PageAnswer {
    static func html(_ page: some Page, status: Int = 200) -> PageAnswer {
        PageAnswer(
            status: status, type: "text/html; charset=utf-8", body: .bytes(Shell.render(page)))
    }

    package static func json(_ value: some Encodable, status: Int = 200) -> PageAnswer {
        // JSON can represent all texts, numbers and booleans.
        let bytes = (try? JSONValueEncoder(isSorted: true).encode(value)) ?? []
        return PageAnswer(status: status, type: "application/json", body: .bytes(bytes))
    }

    package static func events(_ events: AsyncStream<ServerEvent>) -> PageAnswer {
        PageAnswer(type: "text/event-stream", body: .events(events))
    }

    static func redirect(to path: PagePath) -> PageAnswer {
        PageAnswer(status: 303, type: "text/plain", location: path.text, body: .bytes([]))
    }
}

/// Renders the parts around each page: the head of the document and the navigation.
package enum Shell {
    static func render(_ page: some Page) -> [UInt8] {
        document(
            title: page.title, style: "/assets/console.css", script: "/assets/console.js",
            modules: Assets.modules.map { "/assets/" + $0 }, fetches: page.fetches,
            body: frame(page))
    }

    /// Renders a whole document. The style, the script and the icon are files of the same server.
    ///
    /// - Parameter modules: The modules that the script imports. The browser then loads them in
    ///   parallel. Otherwise, it would find each module only in the module before it.
    package static func document(
        title: String, style: String, script: String, modules: [String] = [],
        fetches: [PagePath] = [], body: HTML
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(
            contentsOf: """
                <!DOCTYPE html><html lang="en"><head><meta charset="utf-8">\
                <meta name="viewport" content="width=device-width, initial-scale=1">\
                <meta name="color-scheme" content="light dark">\
                <meta name="referrer" content="same-origin">\
                <link rel="stylesheet" href="
                """.utf8)
        HTML.escape(style, into: &bytes)
        bytes.append(contentsOf: #""><link rel="icon" href="/assets/icon.svg">"#.utf8)
        bytes.append(contentsOf: #"<script type="module" src=""#.utf8)
        HTML.escape(script, into: &bytes)
        bytes.append(contentsOf: #""></script>"#.utf8)
        for module in modules {
            bytes.append(contentsOf: #"<link rel="modulepreload" href=""#.utf8)
            HTML.escape(module, into: &bytes)
            bytes.append(contentsOf: #"">"#.utf8)
        }
        for fetch in fetches {
            bytes.append(contentsOf: #"<link rel="preload" as="fetch" crossorigin href=""#.utf8)
            HTML.escape(fetch.text, into: &bytes)
            bytes.append(contentsOf: #"">"#.utf8)
        }
        bytes.append(contentsOf: "<title>".utf8)
        HTML.escape(title + " · Tidemark", into: &bytes)
        bytes.append(contentsOf: "</title></head><body>".utf8)
        body.render(into: &bytes)
        bytes.append(contentsOf: "</body></html>".utf8)
        return bytes
    }

    @HTMLBuilder private static func frame(_ page: some Page) -> HTML {
        Tag.header {
            Tag.strong { "Tidemark" }
            Tag.nav(.label("Sections")) {
                for section in Section.allCases {
                    if section == page.section {
                        Tag.a(.href(PagePath([section.rawValue])), .current) { section.title }
                    } else {
                        Tag.a(.href(PagePath([section.rawValue]))) { section.title }
                    }
                }
            }
        }
        Tag.main {
            Tag.h1 { page.title }
            page.body
        }
        Tag.output(.id("status"), .live)
    }
}

/// The page for an error.
struct ErrorPage: Page {
    let title = "Not shown"
    let section: Section
    let error: String

    private enum CodingKeys: String, CodingKey { case error }

    @HTMLBuilder var body: HTML { Tag.p(.role("alert")) { error } }
}
