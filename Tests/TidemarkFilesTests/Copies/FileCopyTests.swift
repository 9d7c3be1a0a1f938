import Crypto
import Foundation
import Testing
import Tidemark
import TidemarkSystem

@testable import TidemarkFiles

struct FileCopyTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func copy(_ source: String, limit: Int64 = .max) throws(FileProblem) -> FileDigest {
        try FileCopy.make(of: source, to: target, limit: limit)
    }

    private var target: String { folder.url.appendingPathComponent("copy").path }

    private func path(_ name: String) -> String { folder.url.appendingPathComponent(name).path }

    @Test(arguments: [0, 1, 1 << 20, (1 << 20) + 1, 3_000_000])
    func `a copy has the bytes, the size and the digests`(size: Int) throws {
        let source = try folder.write("a", size: size)
        let digest = try copy(source.path)
        let data = try Data(contentsOf: source)
        #expect(try Data(contentsOf: URL(fileURLWithPath: target)) == data)
        #expect(digest.size == Int64(size))
        #expect(digest.md5 == MD5.base64(data))
        let sha = SHA256.hash(data: data).map { String(format: "%02x", $0) }.joined()
        #expect(digest.sha256 == sha)
        #expect(FileCopy.digest(of: target) == digest)
    }

    @Test func `an empty file has the known digest`() throws {
        let source = try folder.write("a", size: 0)
        #expect(try copy(source.path).md5 == "1B2M2Y8AsgTpgAmY7PhCfg==")
    }

    @Test func `a copy does not change with its original`() throws {
        let source = try folder.write("a", size: 100)
        let digest = try copy(source.path)
        try Data("other".utf8).write(to: source)
        #expect(FileCopy.digest(of: target) == digest)
        let handle = try FileHandle(forWritingTo: source)
        try handle.write(contentsOf: Data([9]))
        try handle.close()
        #expect(FileCopy.digest(of: target) == digest)
    }

    @Test func `only the user can read a copy`() throws {
        let source = try folder.write("a", size: 10)
        _ = try copy(source.path)
        let facts = try FileManager.default.attributesOfItem(atPath: target)
        #expect(facts[.posixPermissions] as? Int == 0o600)
    }

    private func expect(_ problem: FileProblem, _ name: String) {
        #expect(throws: problem) { try copy(path(name)) }
        #expect(!FileManager.default.fileExists(atPath: target), "nothing stays behind")
    }

    @Test func `what is no file is refused`() throws {
        let file = try folder.write("a", size: 10)
        expect(.missing, "none")
        try FileManager.default.createDirectory(
            at: folder.url.appendingPathComponent("folder"), withIntermediateDirectories: true)
        expect(.isFolder, "folder")
        try FileManager.default.createSymbolicLink(
            atPath: path("link"), withDestinationPath: file.path)
        expect(.isSymbolicLink, "link")
        #expect(mkfifo(path("pipe"), 0o600) == 0)
        expect(.isNoFile, "pipe")
        #expect(throws: FileProblem.tooLarge(limit: 9)) { try copy(file.path, limit: 9) }
    }

    @Test func `a file that may not be read is refused`() throws {
        // The system refuses nothing to an administrator.
        guard getuid() != 0 else { return }
        let file = try folder.write("a", size: 10)
        chmod(file.path, 0)
        expect(.unreadable(code: EACCES), "a")
    }

    @Test func `a folder for copies that is missing is an error of the copy`() throws {
        let file = try folder.write("a", size: 10)
        #expect(throws: FileProblem.cannotStore(code: ENOENT)) {
            try FileCopy.make(of: file.path, to: path("no/such/copy"), limit: .max)
        }
    }

    @Test(arguments: [ENOSPC, EDQUOT])
    func `a full disk is named`(code: Int32) {
        let problem = FileCopy.storingProblem(code)
        #expect(problem == .diskFull)
        #expect(problem.firestoreError.storageFault == .full)
        #expect(problem.firestoreError.recovery == .freeSpace)
    }

    @Test(arguments: ["grows", "shrinks", "is written"])
    func `a file that changes while it is copied is refused`(change: String) throws {
        let source = try folder.write("a", size: 3 << 20)
        // The system's times of files have steps of some milliseconds.
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_000)], ofItemAtPath: source.path)
        let file = open(source.path, O_RDONLY)
        defer { close(file) }
        let version = try #require(FileSystem.version(of: file))
        var isFirst = true
        #expect(throws: FileProblem.changedWhileCopied) {
            try FileCopy.stream(file, version, to: target) {
                guard isFirst else { return }
                isFirst = false
                let writer = open(source.path, O_WRONLY)
                defer { close(writer) }
                switch change {
                case "grows":
                    lseek(writer, 0, SEEK_END)
                    _ = SystemCalls.writeBytes(writer, from: [1], count: 1)
                case "shrinks": ftruncate(writer, 2 << 20)
                default: _ = SystemCalls.writeBytes(writer, from: [1, 2, 3], count: 3)
                }
            }
        }
    }

    @Test func `a file that is written all the time is whole or refused`() throws {
        let source = try folder.write("a", size: 4 << 20)
        let isOver = Flag()
        let writer = Thread {
            let file = open(source.path, O_WRONLY | O_APPEND)
            while !isOver.isSet { _ = SystemCalls.writeBytes(file, from: [1, 2, 3], count: 3) }
            close(file)
            isOver.done()
        }
        writer.start()
        defer {
            isOver.set()
            isOver.wait()
        }
        // A clone is a moment of the file, and whole; a stream notices the change.
        do throws(FileProblem) {
            let digest = try copy(source.path)
            #expect(FileCopy.digest(of: target) == digest)
        } catch {
            #expect(error == .changedWhileCopied)
            #expect(!FileManager.default.fileExists(atPath: target))
        }
    }

    @Test func `parts of a copy are read exactly`() throws {
        let source = try folder.write("a", size: 1_000)
        let data = try Data(contentsOf: source)
        #expect(FileCopy.read(source.path, from: 10, count: 20) == data[10..<30])
        for count in [0, 1, 14, 15, 31, 1_000] {
            #expect(FileCopy.read(source.path, from: 0, count: count) == data[..<count])
        }
        #expect(FileCopy.read(source.path, from: 990, count: 20) == nil)
        #expect(FileCopy.read(path("none"), from: 0, count: 1) == nil)
    }

    // MARK: The folder

    @Test func `a sweep removes parts that were never journalled, and nothing else`() throws {
        let copies = FileFolder(base: path("files"), user: Array("ann".utf8))
        try copies.make()
        for name in ["row", "lost"] {
            _ = try FileCopy.store(Data([1]), at: copies.part(name))
        }
        _ = try FileCopy.store(Data([2]), at: copies.whole("reset"))
        #expect(copies.sweep(copies.names(), rows: ["row"]) == ["reset"])
        #expect(copies.copy("row") == copies.whole("row"))
        #expect(copies.copy("lost") == nil)
        #expect(copies.copy("reset") != nil, "a cache that was reset does not take files along")
    }

    /// A file that was sent while an outbox started lost its copy.
    @Test func `a sweep keeps a part that is made while it runs`() throws {
        let copies = FileFolder(base: path("files"), user: Array("ann".utf8))
        try copies.make()
        let names = copies.names()
        _ = try FileCopy.store(Data([1]), at: copies.part("new"))
        #expect(copies.sweep(names, rows: []) == [])
        #expect(FileManager.default.fileExists(atPath: copies.part("new")))
    }

    @Test func `each user has a folder, also with the longest id`() throws {
        let names = [
            [], Array("ann".utf8), Array("../x".utf8), [UInt8](repeating: 200, count: 128),
        ]
        .map { FileFolder(base: "/b", user: $0).path }
        #expect(Set(names).count == 4)
        for name in names {
            #expect(name.split(separator: "/").count == 2)
            #expect(name.utf8.count < 240)
        }
    }
}

/// A mark that one thread sets and another one waits for.
private final class Flag: @unchecked Sendable {
    // @unchecked: the lock guards both marks.
    private let lock = NSCondition()
    private var isMarked = false
    private var isDone = false

    var isSet: Bool { lock.withLock { isMarked } }
    func set() { lock.withLock { isMarked = true } }

    func done() {
        lock.withLock {
            isDone = true
            lock.broadcast()
        }
    }

    func wait() { lock.withLock { while !isDone { lock.wait() } } }
}
