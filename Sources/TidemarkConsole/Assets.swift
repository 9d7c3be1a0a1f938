package import TidemarkHTTP

/// The style, the modules and the icon, embedded in the program.
package enum Assets {
    static func answer(_ path: [String]) -> PageAnswer? {
        guard path.count == 1 else { return nil }
        switch path[0] {
        case "console.css": return file(PackageResources.console_css, "text/css; charset=utf-8")
        case "icon.svg": return file(PackageResources.icon_svg, "image/svg+xml")
        default: return module(path[0]).map { file($0, "text/javascript; charset=utf-8") }
        }
    }

    /// What `console.js` imports, and what they import.
    static let modules = [
        "dom.js", "editor.js", "forms.js", "grid.js", "live.js", "palette.js", "rules.js",
        "stage.js",
        "tools.js", "values.js",
    ]

    private static func module(_ name: String) -> [UInt8]? {
        switch name {
        case "console.js": PackageResources.console_js
        case "dom.js": PackageResources.dom_js
        case "editor.js": PackageResources.editor_js
        case "forms.js": PackageResources.forms_js
        case "grid.js": PackageResources.grid_js
        case "live.js": PackageResources.live_js
        case "palette.js": PackageResources.palette_js
        case "rules.js": PackageResources.rules_js
        case "stage.js": PackageResources.stage_js
        case "tools.js": PackageResources.tools_js
        case "values.js": PackageResources.values_js
        default: nil
        }
    }

    /// The console's own icon.
    package static var icon: PageAnswer { file(PackageResources.icon_svg, "image/svg+xml") }

    package static func file(_ bytes: [UInt8], _ type: String) -> PageAnswer {
        // FNV-1a: a browser asks whether the file it keeps is still this one.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return PageAnswer(type: type, version: String(hash, radix: 16), body: .bytes(bytes))
    }
}
