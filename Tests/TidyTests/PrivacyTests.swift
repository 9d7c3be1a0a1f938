import Foundation
import Testing
import TestSupport

/// Checks the privacy manifest of each target that an app links. App Store Connect rejects an
/// upload whose code calls one of Apple's *required reason* functions without a stated reason.
///
/// Source:
/// https://developer.apple.com/documentation/bundleresources/describing-use-of-required-reason-api
@Suite(.ownThread) struct `Privacy manifests` {
    /// The modules that an app can link when it ships.
    private static let modules = [
        "Tidemark", "TidemarkApp", "TidemarkEncryption", "TidemarkFiles", "TidemarkGoogleAuth",
        "TidemarkHealth", "TidemarkHealthSync", "TidemarkImages", "TidemarkLivePipelines",
        "TidemarkResilience", "TidemarkWords",
    ]

    /// A category of functions, the names of the calls, and the reasons that Apple accepts.
    private static let categories: [(name: String, calls: [String], reasons: Set<String>)] = [
        (
            "FileTimestamp",
            [
                "stat(", "lstat(", "fstat(", "fstatat(", "getattrlist", ".modificationDate",
                ".creationDate", "contentModificationDate", "attributesOfItem(",
            ], ["C617.1", "3B52.1", "0A2A.1", "DDA9.1"]
        ),
        ("UserDefaults", ["UserDefaults"], ["CA92.1", "1C8F.1", "C56D.1"]),
        (
            "SystemBootTime", ["systemUptime", "mach_absolute_time("],
            ["35F9.1", "8FFB.1", "3D61.1"]
        ),
        (
            "DiskSpace",
            ["volumeAvailableCapacity", "systemFreeSize", "systemSize", "statfs(", "statvfs("],
            ["85F4.1", "E174.1", "7D9E.1", "B728.1"]
        ),
        ("ActiveKeyboards", ["activeInputModes"], ["3EC4.1", "54BD.1"]),
    ]

    private static let targets: Set<String> = {
        var found: Set<String> = []
        var open = modules
        while let target = open.popLast() {
            guard found.insert(target).inserted else { continue }
            open += ImportRules.allowed[target] ?? []
        }
        return found
    }()

    /// One pattern for each category. A pattern matches whole names only, and so does not match
    /// `lastStat(`.
    private static let patterns = categories.map { category in
        let names = category.calls.map(NSRegularExpression.escapedPattern(for:))
        return (
            category.name,
            try! NSRegularExpression(
                pattern: "(?:(?<![A-Za-z0-9_])|(?=\\.))(" + names.joined(separator: "|") + ")")
        )
    }

    /// The categories whose functions each target calls.
    private static let used: [String: Set<String>] = {
        var found: [String: Set<String>] = [:]
        for file in Repository.swift where file.isCode {
            guard let target = file.target, targets.contains(target) else { continue }
            let code = file.lines.filter {
                !$0.trimmingCharacters(in: .whitespaces).hasPrefix("//")
            }
            let text = code.joined(separator: "\n")
            let range = NSRange(text.startIndex..., in: text)
            for (name, pattern) in patterns
            where pattern.firstMatch(in: text, range: range) != nil {
                found[target, default: []].insert(name)
            }
        }
        return found
    }()

    private struct Manifest: Decodable {
        struct Use: Decodable {
            let NSPrivacyAccessedAPIType: String
            let NSPrivacyAccessedAPITypeReasons: [String]
        }

        let NSPrivacyTracking: Bool
        let NSPrivacyTrackingDomains: [String]
        let NSPrivacyCollectedDataTypes: [[String: String]]
        let NSPrivacyAccessedAPITypes: [Use]
    }

    private static func manifest(of target: String) throws -> Manifest? {
        let file = Repository.root.appending(path: "Sources/\(target)/PrivacyInfo.xcprivacy")
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        return try PropertyListDecoder().decode(Manifest.self, from: Data(contentsOf: file))
    }

    @Test(arguments: targets.sorted())
    func `say what is called, and nothing else`(target: String) throws {
        let manifest = try Self.manifest(of: target)
        var said: [String: [String]] = [:]
        for use in manifest?.NSPrivacyAccessedAPITypes ?? [] {
            said[use.NSPrivacyAccessedAPIType] = use.NSPrivacyAccessedAPITypeReasons
        }
        let prefix = "NSPrivacyAccessedAPICategory"
        #expect(Set(said.keys) == Set((Self.used[target] ?? []).map { prefix + $0 }), "\(target)")
        for category in Self.categories {
            let reasons = said[prefix + category.name] ?? []
            #expect(category.reasons.isSuperset(of: reasons))
        }
        #expect(manifest?.NSPrivacyTracking != true)
    }

    @Test func `are in the package`() throws {
        let package = try #require(Repository.files.first { $0.path == "Package.swift" })
        let with = try Self.targets.filter { try Self.manifest(of: $0) != nil }
        #expect(with.count == 4)
        let named = try #require(package.lines.first { $0.contains("if [\"TidemarkStore\"") })
        for target in with { #expect(named.contains("\"\(target)\""), "\(target)") }
    }
}
