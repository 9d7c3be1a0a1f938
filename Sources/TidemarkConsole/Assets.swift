package import TidemarkHTTP

/// The style, the modules and the icon, embedded in the program.
package enum Assets {
    static func answer(_ path: [String]) -> PageAnswer? {
        switch path {
        case ["console.css"]: file(PackageResources.console_css, "text/css; charset=utf-8")
        case ["console.js"]: file(PackageResources.console_js, "text/javascript; charset=utf-8")
        case ["icon.svg"]: icon
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
