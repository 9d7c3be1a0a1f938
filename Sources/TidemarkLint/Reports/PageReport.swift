/// The report as an HTML page: the ten most expensive findings, each opened, and then all.
package struct PageReport {
    private let report: Report

    package init(_ report: Report) { self.report = report }

    package var html: String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>What this code reads</title>
        <style>\(Self.style)</style>
        </head>
        <body>
        <main>
        <h1>What this code reads</h1>
        \(summary)
        \(costliest)
        \(all)
        </main>
        </body>
        </html>

        """
    }

    private var summary: String {
        let scale =
            "\(report.documents.grouped) documents a collection, \(report.opens.grouped) opens a "
            + "user and day, \(report.users.grouped) users"
        return """
            <p>\(report.files.grouped) files, \(report.operations.grouped) calls of Firestore.
            \(report.count(of: .error)) errors, \(report.count(of: .warning)) warnings, \
            \(report.count(of: .note)) notes\(report.untoldSentence.map { "; " + $0 } ?? "").
            Estimates are for \(scale).</p>
            """
    }

    private var costliest: String {
        let ten = report.costliest.prefix(10)
        guard let most = ten.first?.estimate?.readsAMonth, most > 0 else { return "" }
        let items = ten.enumerated().map { index, finding in
            let estimate = finding.estimate!
            let share = max(1, Int(100 * estimate.readsAMonth / most))
            return """
                <li>
                <details\(index == 0 ? " open" : "")>
                <summary><span class="price">$\(estimate.dollarsAMonth.money) a month</span>
                <span>\(Self.marked(finding.message))</span>
                <span class="bar"><i style="width:\(share)%"></i></span></summary>
                <p class="place">\(Self.place(finding))</p>
                <pre>\(Self.escaped(finding.line))</pre>
                <dl>
                <dt>One open</dt><dd>\(estimate.reads.grouped) reads: \
                \(Self.marked(estimate.reckoning))</dd>
                <dt>A day</dt><dd>× \(estimate.opens.grouped) opens × \(estimate.users.grouped) \
                users</dd>
                <dt>A month</dt><dd>\(Int(min(estimate.readsAMonth, 9e18)).grouped) reads</dd>
                \(Self.mended(estimate))
                </dl>
                <p>\(Self.marked(finding.reason))</p>
                <p><b>Do:</b> \(Self.marked(finding.mending))</p>
                </details>
                </li>
                """
        }
        return
            "<h2>The costliest</h2>\n<ol class=\"costs\">\n\(items.joined(separator: "\n"))\n</ol>"
    }

    private static func mended(_ estimate: Estimate) -> String {
        guard let mended = estimate.mended else { return "" }
        return "<dt>Mended</dt><dd>\(mended.grouped) reads an open</dd>"
    }

    private var all: String {
        guard !report.findings.isEmpty else { return "<p>Nothing was found.</p>" }
        let rows = report.findings.map { finding in
            """
            <tr><td><span class="\(finding.severity.rawValue)">\(finding.severity.rawValue)</span></td>
            <td><code>\(finding.id.rawValue)</code></td>
            <td>\(Self.marked(finding.message))<br><span class="place">\(Self.place(finding))</span></td></tr>
            """
        }
        return """
            <h2>All findings</h2>
            <div class="scroll"><table>
            <thead><tr><th>Severity</th><th>Name</th><th>What and where</th></tr></thead>
            <tbody>
            \(rows.joined(separator: "\n"))
            </tbody></table></div>
            """
    }

    private static func place(_ finding: Finding) -> String {
        escaped("\(finding.place.path):\(finding.place.line)")
    }

    /// Returns a sentence with the text between backticks as code.
    static func marked(_ sentence: String) -> String {
        let parts = escaped(sentence).split(separator: "`", omittingEmptySubsequences: false)
        guard parts.count % 2 == 1 else { return escaped(sentence) }
        return parts.enumerated().map { index, part in
            index % 2 == 1 ? "<code>\(part)</code>" : String(part)
        }.joined()
    }

    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            .replacing(">", with: "&gt;").replacing("\"", with: "&quot;")
    }

    private static let style = """
        :root { color-scheme: light dark; --ink: #1c2430; --paper: #fff; --line: #d8dee6;
          --soft: #5b6675; --accent: #0b6bcb; --error: #b3261e; --warning: #8a5a00; }
        @media (prefers-color-scheme: dark) { :root { --ink: #e6ebf2; --paper: #12161c;
          --line: #2d3642; --soft: #9aa7b8; --accent: #6db3ff; --error: #ff8a80; --warning: #ffc466; } }
        body { margin: 0; background: var(--paper); color: var(--ink);
          font: 16px/1.5 system-ui, sans-serif; }
        main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
        h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
        .costs { list-style: none; padding: 0; }
        .costs li { border-top: 1px solid var(--line); padding: .5rem 0; }
        summary { cursor: pointer; display: grid; grid-template-columns: 11rem 1fr; gap: .25rem 1rem; }
        @media (max-width: 40rem) { summary { grid-template-columns: 1fr; } }
        .price::before { content: "▸"; display: inline-block; width: 1.1em; color: var(--soft); }
        details[open] .price::before { content: "▾"; }
        code { font: .92em ui-monospace, monospace; overflow-wrap: anywhere; }
        .price { font-weight: 600; font-variant-numeric: tabular-nums; }
        .bar { grid-column: 1 / -1; height: 4px; background: var(--line); border-radius: 2px; }
        .bar i { display: block; height: 100%; background: var(--accent); border-radius: 2px; }
        .place { color: var(--soft); font: 13px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
        pre { overflow-x: auto; padding: .5rem; border: 1px solid var(--line); border-radius: 4px; }
        dl { display: grid; grid-template-columns: 6rem 1fr; gap: .25rem 1rem; }
        dt { color: var(--soft); } dd { margin: 0; }
        .scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
        th, td { text-align: left; vertical-align: top; padding: .4rem .6rem .4rem 0;
          border-top: 1px solid var(--line); }
        .error { color: var(--error); } .warning { color: var(--warning); } .note { color: var(--soft); }
        """
}
