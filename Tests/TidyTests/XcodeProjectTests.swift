import Foundation
import Testing
import TestSupport

/// Checks the project of the example apps, which `Scripts/xcode-project` writes.
@Suite(.ownThread) struct `The Xcode project of the examples` {
    private typealias Object = [String: Any]

    private static let path = "Examples/Examples.xcodeproj/project.pbxproj"
    private let objects: [String: Object]
    private let root: Object

    init() throws {
        let data = try Data(contentsOf: Repository.root.appending(path: Self.path))
        let list = try #require(
            try PropertyListSerialization.propertyList(from: data, format: nil) as? Object)
        objects = try #require(list["objects"] as? [String: Object])
        let key = try #require(list["rootObject"] as? String)
        root = try #require(objects[key])
    }

    private func objects(_ kind: String) -> [Object] {
        objects.values.filter { $0["isa"] as? String == kind }
    }

    private func settings(of list: Any?) throws -> [[String: String]] {
        let configurations = try #require(objects[list as? String ?? ""])["buildConfigurations"]
        return try #require(configurations as? [String]).map { key in
            try #require(objects[key]?["buildSettings"] as? [String: String])
        }
    }

    private func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(
            atPath: Repository.root.appending(path: "Examples/" + path).path)
    }

    private static func references(in value: Any) -> [String] {
        switch value {
        case let text as String: text.wholeMatch(of: /[0-9A-F]{24}/) == nil ? [] : [text]
        case let list as [Any]: list.flatMap(references)
        case let object as Object: object.values.flatMap(references)
        default: []
        }
    }

    @Test func `refers only to objects that it has, and has no others`() {
        let named = objects.values.flatMap { Self.references(in: $0) }
        #expect(named.count > 60)
        for name in named { #expect(objects[name] != nil, "\(name)") }
        // Only the project itself is named by no other object.
        let roots = Set(objects.keys).subtracting(named).compactMap {
            objects[$0]?["isa"] as? String
        }
        #expect(roots == ["PBXProject"])
    }

    @Test func `links each product that a target depends on, and only products of the package`()
        throws
    {
        let manifest = try String(
            contentsOf: Repository.root.appending(path: "Package.swift"), encoding: .utf8)
        let libraries = Set(
            manifest.matches(of: /\.library\(name: "(\w+)"/).map { String($0.output.1) })
        #expect(libraries.count >= 7)
        for target in objects("PBXNativeTarget") {
            let wanted = try #require(target["packageProductDependencies"] as? [String])
            let phases = try #require(target["buildPhases"] as? [String]).compactMap { objects[$0] }
            #expect(
                phases.compactMap { $0["isa"] as? String } == [
                    "PBXSourcesBuildPhase", "PBXFrameworksBuildPhase", "PBXResourcesBuildPhase",
                ])
            let linked = phases.flatMap { $0["files"] as? [String] ?? [] }
                .compactMap { objects[$0]?["productRef"] as? String }
            #expect(linked == wanted)
            for product in wanted {
                let name = try #require(objects[product]?["productName"] as? String)
                // The manifest adds the products of the examples by their names.
                let isExample = name == "ExampleKit" || name.hasSuffix("Core")
                #expect(isExample || libraries.contains(name), "\(name)")
            }
        }
    }

    @Test func `asks for what HealthKit and Apple's sign-in need`() throws {
        func list(_ path: String) throws -> Object {
            let file = Repository.root.appending(path: "Examples/Xcode/" + path)
            return try #require(
                try PropertyListSerialization.propertyList(
                    from: try Data(contentsOf: file), format: nil) as? Object)
        }
        let health = try list("Health.entitlements")
        #expect(health["com.apple.developer.healthkit"] as? Bool == true)
        #expect(health["com.apple.developer.healthkit.background-delivery"] as? Bool == true)
        #expect(try list("Health.plist")["NSHealthShareUsageDescription"] is String)
        let homes = try list("Homes.entitlements")
        #expect(homes["com.apple.developer.applesignin"] as? [String] == ["Default"])
    }

    @Test func `has a target of each app, with its folders, products and entitlements`() throws {
        let apps = try Self.apps()
        #expect(apps.count == 5, "one @main each")
        let targets = try #require(root["targets"] as? [String]).compactMap { objects[$0] }
        for app in apps {
            let target = try #require(targets.first { $0["name"] as? String == app })
            let folders = try #require(target["fileSystemSynchronizedGroups"] as? [String])
                .compactMap { objects[$0]?["path"] as? String }
            #expect(folders == ["\(app)/App", "\(app)/Views"] && folders.allSatisfy(exists))
            let products = try #require(target["packageProductDependencies"] as? [String])
                .compactMap { objects[$0]?["productName"] as? String }
            #expect(products.contains(app + "Core") && products.contains("ExampleKit"))
            for settings in try settings(of: target["buildConfigurationList"]) {
                let needed = ["Health": "HealthKit", "Homes": "Sign in with Apple"][app]
                let entitlements = settings["CODE_SIGN_ENTITLEMENTS"]
                #expect((entitlements == nil) == (needed == nil), "\(app)")
                for path in [entitlements, settings["INFOPLIST_FILE"]].compactMap(\.self) {
                    let file = Repository.root.appending(path: "Examples/" + path)
                    let list = try PropertyListSerialization.propertyList(
                        from: try Data(contentsOf: file), format: nil)
                    #expect(!((list as? Object)?.isEmpty ?? true), "\(path)")
                }
            }
        }
    }

    /// Returns the folders of apps that have an `@main` in their folder `App`.
    private static func apps() throws -> [String] {
        try mains().compactMap { path in
            let parts = path.split(separator: "/")
            return parts.count == 4 && parts[2] == "App" ? String(parts[1]) : nil
        }
    }

    /// Returns the paths of the example files with an `@main`.
    private static func mains() throws -> [String] {
        try Repository.swift.map(\.path).filter { path in
            guard path.hasPrefix("Examples/") else { return false }
            let file = Repository.root.appending(path: path)
            return try String(contentsOf: file, encoding: .utf8).contains("@main ")
        }
    }

    /// A file in no target would be seen by `check-views` alone, and nobody could run it.
    @Test func `has each screen of an example in a target, with one main each`() throws {
        let folders = try objects("PBXNativeTarget").map { target in
            try #require(target["fileSystemSynchronizedGroups"] as? [String])
                .compactMap { objects[$0]?["path"] as? String }
        }
        let all = folders.flatMap(\.self)
        #expect(Set(all).count == all.count, "no folder is in two targets")
        let screens = Repository.swift.map(\.path).filter { path in
            let parts = path.split(separator: "/")
            return parts[0] == "Examples" && ["App", "UIKit", "Views"].contains(parts[2])
        }
        #expect(screens.count > 15)
        for path in screens {
            #expect(all.contains { path.hasPrefix("Examples/\($0)/") }, "\(path)")
        }
        let mains = try Self.mains()
        for paths in folders {
            let own = mains.filter { main in paths.contains { main.hasPrefix("Examples/\($0)/") } }
            #expect(own.count == 1, "\(paths)")
            #expect(paths.contains { exists($0 + "/Assets.xcassets/AppIcon.appiconset") })
        }
        #expect(mains.count == folders.count)
        #expect(folders.contains(["Homes/UIKit"]))
    }

    @Test func `builds as the package does: Swift 6, for the package's systems`() throws {
        for settings in try settings(of: root["buildConfigurationList"]) {
            #expect(settings["SWIFT_VERSION"] == "6.0")
            #expect(settings["SWIFT_UPCOMING_FEATURE_EXISTENTIAL_ANY"] == "YES")
            #expect(settings["IPHONEOS_DEPLOYMENT_TARGET"] == "18.0")
        }
        let package = try #require(objects("XCLocalSwiftPackageReference").first)
        let path = try #require(package["relativePath"] as? String)
        #expect(exists(path + "/Package.swift"))
    }

    /// The colours and the icon of an app have a catalogue, which Xcode reads from the folder.
    @Test func `finds the assets of each app`() throws {
        for app in ["Chats", "Health", "Homes", "Messages", "Stamps"] {
            for name in ["AppIcon.appiconset", "AccentColor.colorset"] {
                let path = "Examples/\(app)/App/Assets.xcassets/\(name)/Contents.json"
                let data = try Data(contentsOf: Repository.root.appending(path: path))
                #expect(try JSONSerialization.jsonObject(with: data) is [String: Any], "\(path)")
            }
        }
    }

    @Test(.enabled(if: ProcessInfo.processInfo.environment["TIDEMARK_WITHOUT_PYTHON"] == nil))
    func `is what the script writes`() throws {
        let (process, output) = (Process(), Pipe())
        process.executableURL = Repository.root.appending(path: "Scripts/xcode-project")
        process.arguments = ["--check"]
        process.standardError = output
        try process.run()
        let text = String(
            decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(text)")
    }
}
