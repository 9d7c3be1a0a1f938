package import TidemarkHTTP

/// The style, the modules and the icon, embedded in the program.
package enum Assets {
    /// The script of every page, and its modules.
    private static let scripts: [String: [UInt8]] = [
        "console.js": PackageResources.console_js, "dom.js": PackageResources.dom_js,
        "editor.js": PackageResources.editor_js, "forms.js": PackageResources.forms_js,
        "grid.js": PackageResources.grid_js, "live.js": PackageResources.live_js,
        "palette.js": PackageResources.palette_js, "pipeline.js": PackageResources.pipeline_js,
        "rules.js": PackageResources.rules_js, "stage.js": PackageResources.stage_js,
        "tools.js": PackageResources.tools_js, "values.js": PackageResources.values_js,
    ]

    /// The modules of `console.js`, including indirect ones.
    static let modules = scripts.keys.filter { $0 != "console.js" }.sorted()

    static func answer(_ path: [String]) -> PageAnswer? {
        guard path.count == 1 else { return nil }
        switch path[0] {
        case "console.css": return file(PackageResources.console_css, "text/css; charset=utf-8")
        case "icon.svg": return icon
        default: return scripts[path[0]].map { file($0, "text/javascript; charset=utf-8") }
        }
    }

    /// The console's own icon.
    package static var icon: PageAnswer { file(PackageResources.icon_svg, "image/svg+xml") }

    package static func file(_ bytes: [UInt8], _ type: String) -> PageAnswer {
        // The hash is FNV-1a: a browser asks with it if its stored file is still current.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return PageAnswer(type: type, version: String(hash, radix: 16), body: .bytes(bytes))
    }
}
