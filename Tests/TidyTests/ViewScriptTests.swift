import Foundation
import Testing
import TestSupport

/// Runs `Scripts/check-views` on a made-up repository, with a compiler that records its arguments.
@Suite(
    .ownThread, .timeLimit(.minutes(2)),
    .enabled(if: ProcessInfo.processInfo.environment["TIDEMARK_WITHOUT_PYTHON"] == nil))
struct `The check of the example apps' views` {
    private static let script = "Scripts/check-views"

    /// A folder with one app, the module of its core, and the stubs.
    private final class Place {
        let root = FileManager.default.temporaryDirectory
            .appending(path: "tidemark-views-\(UUID().uuidString)")

        init(views: [String], modules: [String]) throws {
            let core = #"    args: ["/x/swiftc","-module-name","ACore","-emit-module","-DDEBUG"]"#
            try write(".build/debug.yaml", core + "\n")
            let stubs = [
                "SwiftUI", "Charts", "UIKit", "HealthKit", "CoreGraphics", "CoreFoundationStub",
                "Combine", "AuthenticationServices", "PhotosUI",
            ]
            for name in stubs {
                try write(".build/apple/debug/Modules/\(name).swiftmodule", "")
            }
            try write(".build/debug/Modules/Other.swiftmodule", "")
            for name in modules { try write(".build/debug/Modules/\(name).swiftmodule", "") }
            try write("Sources/Other/Other.swift", "")
            try write("Examples/A/Core/Core.swift", "")
            for name in views { try write("Examples/A/Views/\(name).swift", "import ACore\n") }
            try FileManager.default.createDirectory(
                at: root.appending(path: "Scripts"), withIntermediateDirectories: true)
            try FileManager.default.copyItem(
                at: Repository.root.appending(path: script), to: root.appending(path: script))
        }

        deinit { try? FileManager.default.removeItem(at: root) }

        func write(_ path: String, _ text: String, isProgram: Bool = false) throws {
            let file = root.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.write(to: file, atomically: true, encoding: .utf8)
            let permissions = isProgram ? 0o755 : 0o644
            try FileManager.default.setAttributes(
                [.posixPermissions: permissions], ofItemAtPath: file.path)
        }
    }

    /// - Parameter compiler: The shell commands that the compiler runs on the views.
    /// - Returns: The output of the script, the arguments of the compiler, and the exit status.
    private func check(
        views: [String] = ["First", "Deep/Second"], more: [String] = [],
        modules: [String] = ["ACore"], compiler: String = "exit 0"
    ) throws -> (text: String, given: [String], status: Int32) {
        let place = try Place(views: views, modules: modules)
        for name in more { try place.write("Examples/A/\(name).swift", "import ACore\n") }
        try place.write("bin/swift", "#!/bin/sh\nexit 0\n", isProgram: true)
        try place.write(
            "bin/swiftc", "#!/bin/sh\nprintf '%s\\n' \"$@\" >given\n\(compiler)\n", isProgram: true)
        let (process, output) = (Process(), Pipe())
        process.executableURL = place.root.appending(path: Self.script)
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["SWIFT": place.root.appending(path: "bin/swift").path], uniquingKeysWith: { $1 }
        ).filter { $0.key != "TIDEMARK_MODULES" }
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let given = try? String(contentsOf: place.root.appending(path: "given"), encoding: .utf8)
        return (
            String(decoding: data, as: UTF8.self), given?.components(separatedBy: "\n") ?? [],
            process.terminationStatus
        )
    }

    @Test func `gives the compiler every file, and makes its warnings errors`() throws {
        let result = try check()
        #expect(result.status == 0 && result.text.contains("(2 files) compile"), "\(result.text)")
        for name in ["First.swift", "Deep/Second.swift", "Guard.swift"] {
            #expect(result.given.contains { $0.hasSuffix("/" + name) }, "\(name)")
        }
        #expect(Set(result.given).isSuperset(of: ["-typecheck", "-warnings-as-errors", "-DDEBUG"]))
    }

    @Test func `checks the main file of an app, and view controllers as a module of their own`()
        throws
    {
        let main = try check(more: ["App/AMain"])
        #expect(main.status == 0 && main.text.contains("(3 files) compile"), "\(main.text)")
        #expect(main.given.contains { $0.hasSuffix("/App/AMain.swift") })
        let controllers = try check(more: ["UIKit/Third"])
        #expect(controllers.text.contains("(3 files) compile"), "\(controllers.text)")
        // The compiler's last run is of the controllers alone.
        #expect(controllers.given.contains("AControllers"))
        #expect(controllers.given.contains { $0.hasSuffix("/UIKit/Third.swift") })
        #expect(!controllers.given.contains { $0.hasSuffix("/First.swift") })
    }

    @Test func `fails with what the compiler says`() throws {
        let result = try check(compiler: "echo 'V.swift:1:1: error: no such label'\nexit 1")
        #expect(result.status == 1)
        #expect(result.text.contains("no such label") && result.text.contains("views of A do not"))
    }

    @Test func `fails without views, and without the modules that they import`() throws {
        let empty = try check(views: [])
        #expect(empty.status == 1 && empty.text.contains("no views of A"), "\(empty.text)")
        let missing = try check(modules: [])
        #expect(missing.status == 1 && missing.text.contains("ACore: missing"), "\(missing.text)")
        #expect(empty.given.isEmpty && missing.given.isEmpty)
    }

    /// Without a stub, the compiler would leave out a block without a message.
    @Test func `has a stub of each module that a block of the examples asks for`() throws {
        let text = try String(
            contentsOf: Repository.root.appending(path: Self.script), encoding: .utf8)
        let list = try #require(text.firstMatch(of: /STUBBED = \[(.*)\]/)).1
        let stubs = Set(list.matches(of: /"(\w+)"/).map { String($0.1) })
        #expect(stubs.contains("SwiftUI"))
        // `make check-apple` compiles the adapter of FirebaseAuth.
        let files = Repository.swift.filter {
            $0.path.hasPrefix("Examples/") && !$0.path.hasPrefix("Examples/FirebaseAuth/")
        }
        let blocks = PlatformBlocks(stubs: stubs, checked: Set(files.map(\.path)))
        let found = files.flatMap(blocks.violations)
        #expect(found.isEmpty, "\(found.report)")
        let views = files.filter { $0.path.contains("/Views/") }
        #expect(views.count >= 10 && views.allSatisfy { !PlatformBlocks.branches(in: $0).isEmpty })
    }

    @Test func `is a part of what CI runs, after the build whose modules it needs`() throws {
        let steps = try #require(Repository.files.first { $0.path == ".ci/run" }).lines
        let build = try #require(steps.firstIndex { $0.hasSuffix("make debug-build") })
        let check = try #require(steps.firstIndex { $0.hasSuffix("make check-views") })
        #expect(check > build)
    }
}
