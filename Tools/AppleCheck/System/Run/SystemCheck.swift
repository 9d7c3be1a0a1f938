import Foundation
import TidemarkSystem

@testable import Tidemark
@testable import TidemarkFiles

/// Runs the branches for Apple's C library. Exits with 1 if a check fails.
@main enum SystemCheck {
    static func main() throws {
        let files = FileManager.default
        let folder = files.temporaryDirectory.appending(path: "system-check-\(UUID().uuidString)")
        try files.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? files.removeItem(at: folder) }
        func path(_ name: String) -> String { folder.appending(path: name).path }
        var failed = 0
        func check(_ what: String, _ holds: Bool) {
            if holds { return }
            failed += 1
            print("not so: \(what)")
        }

        let file = DurableFile(path: path("secret"))
        check("a file that is not there", try file.read() == nil)
        try file.write([1, 2, 3])
        check("a file is read as it was written", try file.read() == [1, 2, 3])
        try file.write(nil)
        check("a file is removed", try file.read() == nil)

        try Data("1".utf8).write(to: folder.appending(path: "a"))
        try Data("2".utf8).write(to: folder.appending(path: "b"))
        check("two names are exchanged", SystemCalls.exchange(path("a"), path("b")))
        check("and have each other's bytes", files.contents(atPath: path("a")) == Data("2".utf8))
        check("no exchange with nothing", !SystemCalls.exchange(path("a"), path("c")))

        // The value is in KiB, because Linux returns it, although the module is named Darwin.
        check("a peak of memory", SystemCalls.peakBytes > 1 << 10)
        check("a stream's socket", SystemCalls.streamSocket == 1)
        check("a truth value", NumberKind.isBoolean(NSNumber(value: true)))
        check("a number", !NumberKind.isBoolean(NSNumber(value: 1.5)))
        BackupExclusion.exclude(folderOf: path("cache/file.sqlite"))
        check("the cache's folder is made", files.fileExists(atPath: path("cache")))

        try Data("12".utf8).write(to: folder.appending(path: "photo"))
        let photo = open(path("photo"), O_RDONLY)
        check("a file has a version", FileSystem.version(of: photo)?.size == 2)
        check("a file is cloned", FileSystem.clone(photo, to: path("clone")))
        check("with its bytes", files.contents(atPath: path("clone")) == Data("12".utf8))
        let mode = try files.attributesOfItem(atPath: path("clone"))[.posixPermissions] as? Int
        check("for this user alone", mode == 0o600)
        check("and not over another file", !FileSystem.clone(photo, to: path("a")))
        close(photo)
        if failed > 0 { exit(1) }
        print("The branches for Apple's C library run.")
    }
}
