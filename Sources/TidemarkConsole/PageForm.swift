import Foundation
package import TidemarkHTTP
import TidemarkModel

/// What a page is made of: a value that is shown as HTML, and is given as JSON as it is.
protocol Page: Encodable {
    var title: String { get }
    /// Which entry of the navigation it belongs to.
    var section: Section { get }
    /// What its modules fetch first: the browser asks for it beside the modules.
    var fetches: [PagePath] { get }
    /// What stands below the title.
    var body: HTML { get }
}

extension Page {
    var fetches: [PagePath] { [] }
}

enum Section: String, CaseIterable {
    case data, query, traffic, cost, history, indexes, rules, accounts, faults

    var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
}

/// In which form a page is wanted.
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
        // Texts and numbers: there is nothing in them that JSON cannot say.
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

/// What surrounds each page: the head of the document and the navigation.
package enum Shell {
    static func render(_ page: some Page) -> [UInt8] {
        document(
            title: page.title, style: "/assets/console.css", script: "/assets/console.js",
            modules: Assets.modules.map { "/assets/" + $0 }, fetches: page.fetches,
            body: frame(page))
    }

    /// A whole document: style, script and icon are files of the same server.
    ///
    /// - Parameter modules: What the script imports. The browser loads them all at once, where it would find
    ///   each in the one before.
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

/// A page that says why there is no other.
struct ErrorPage: Page {
    let title = "Not shown"
    let section: Section
    let error: String

    private enum CodingKeys: String, CodingKey { case error }

    @HTMLBuilder var body: HTML { Tag.p(.role("alert")) { error } }
}
