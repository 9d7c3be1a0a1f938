import Testing
import TidemarkModel

@testable import TidemarkObjects

/// Objects, their versions and their files.
struct ObjectsCoreTests {
    @Test func `an upload makes an object with its digests and a rising generation`() throws {
        let objects = try TestObjects()
        let empty = try objects.put("a/empty", "")
        #expect(Base64Form.text(of: empty.contents.md5 ?? []) == "1B2M2Y8AsgTpgAmY7PhCfg==")
        #expect(Base64Form.text(of: empty.contents.crcBytes) == "AAAAAA==")
        let first = try objects.put("a/b", "123456789")
        #expect(first.contents.crc32c == 0xE306_9283)
        #expect(first.version == ObjectVersion(generation: 1_000_000_001, metageneration: 1))
        let second = try objects.put("a/b", "other")
        #expect(second.version.generation > first.version.generation, "the clock has not moved")
        #expect(try objects.data("a/b") == "other")
        #expect(objects.files == 2, "the replaced file is removed")
    }

    @Test func `metadata is changed field by field`() throws {
        let objects = try TestObjects()
        try objects.put("a", "1") { plan in
            plan.fields.contentType = "text/plain"
            plan.fields.custom = ["a": "1", "b": "2"]
        }
        let text = #"{"contentType":null,"cacheControl":"no-cache","metadata":{"a":null,"c":"3"}}"#
        let patch = try ObjectForm(Array(text.utf8)).patch()
        objects.wait(5)
        let changed = try objects.core.patch(try objects.path("a"), patch)
        #expect(changed.version.metageneration == 2)
        #expect(changed.updatedAt == changed.createdAt + 5_000_000)
        #expect(changed.fields.contentType == nil)
        #expect(changed.fields.cacheControl == "no-cache")
        #expect(changed.fields.custom == ["b": "2", "c": "3"])
        #expect(try objects.core.object(try objects.path("a")) == changed)
    }

    @Test func `preconditions decide`() throws {
        let objects = try TestObjects()
        var mustNotExist = ObjectConditions()
        mustNotExist.ifGenerationMatch = 0
        let first = try objects.put("a", "1", if: mustNotExist)
        #expect(throws: ObjectRefusal.conditionNotMet) {
            try objects.put("a", "2", if: mustNotExist)
        }
        #expect(try objects.data("a") == "1")
        var version = NamedVersion()
        version.conditions.ifMetagenerationMatch = 2
        #expect(throws: ObjectRefusal.conditionNotMet) {
            try objects.core.delete(try objects.path("a"), if: version)
        }
        version = NamedVersion()
        version.conditions.ifGenerationNotMatch = first.version.generation
        #expect(throws: ObjectRefusal.notModified) {
            try objects.core.object(try objects.path("a"), if: version)
        }
        version = NamedVersion(generation: 5)
        #expect(throws: ObjectRefusal.notFound(try objects.path("a"))) {
            try objects.core.object(try objects.path("a"), if: version)
        }
    }

    @Test func `wrong digests make no object`() throws {
        let objects = try TestObjects()
        try objects.put("a", "old")
        #expect(throws: ObjectRefusal.self) {
            try objects.put("a", "new") { $0.expected.md5 = [UInt8](repeating: 1, count: 16) }
        }
        #expect(throws: ObjectRefusal.self) {
            try objects.put("a", "new") { $0.expected.crc32c = [0, 0, 0, 1] }
        }
        #expect(try objects.data("a") == "old")
    }

    @Test func `an upload that was judged for another version is judged again`() throws {
        let objects = try TestObjects()
        let old = try objects.put("a", "1")
        try objects.put("a", "2")
        let (blob, contents) = try objects.blob([3])
        #expect(throws: JudgedVersion.changed) {
            try objects.core.put(
                UploadPlan(path: try objects.path("a")), blob: blob, contents: contents,
                judged: JudgedVersion(old.version))
        }
    }

    @Test func `copies share a file until the last is gone`() throws {
        let objects = try TestObjects()
        try objects.put("a", "bytes") { $0.tokens = ["t"] }
        let copy = try objects.core.copy(from: try objects.path("a"), to: try objects.path("b"))
        #expect(copy.tokens == ["t"])
        #expect(objects.files == 1)
        try objects.core.delete(try objects.path("a"))
        #expect(try objects.data("b") == "bytes")
        try objects.core.delete(try objects.path("b"))
        #expect(objects.files == 0)
    }

    @Test func `a copy onto itself keeps its file`() throws {
        let objects = try TestObjects()
        try objects.put("a", "bytes")
        _ = try objects.core.copy(from: try objects.path("a"), to: try objects.path("a"))
        #expect(try objects.data("a") == "bytes")
    }

    @Test func `odd names are names of their own`() throws {
        let objects = try TestObjects()
        let names = ["a//b", "a/b", "x/../y", "y", "é", "e\u{301}", "+%#? é", "a/", "a\0b"]
        for (number, name) in names.enumerated() { try objects.put(name, "\(number)") }
        for (number, name) in names.enumerated() { #expect(try objects.data(name) == "\(number)") }
        let long = String(repeating: "n", count: 1_024)
        try objects.put(long, "long")
        #expect(try objects.data(long) == "long")
    }

    @Test func `a bucket with objects stays`() throws {
        let objects = try TestObjects()
        try objects.put("a", "1")
        #expect(throws: ObjectRefusal.self) { try objects.core.deleteBucket("demo") }
        try objects.core.delete(try objects.path("a"))
        try objects.core.deleteBucket("demo")
        #expect(try objects.core.bucketTime("demo") == nil)
    }

    // MARK: Ends of the process

    @Test(arguments: ObjectsStep.allCases)
    func `a process that ends at a step leaves the old object or the new one`(
        step: ObjectsStep
    ) throws {
        let objects = try TestObjects()
        try objects.put("a", "old")
        objects.fail(at: step)
        // The caller of a transaction that fails gets an error. Later steps change nothing for it.
        let isCommitted = (try? objects.put("a", "new")) != nil
        #expect(isCommitted == (step != .beforeCommit))
        try objects.restart()
        #expect(try objects.data("a") == (isCommitted ? "new" : "old"))
        #expect(objects.files == 1, "the start removes files without an object")
    }

    @Test func `a start removes the files of uploads that never ended`() throws {
        let objects = try TestObjects()
        try objects.put("a", "kept")
        _ = try objects.blob([1, 2, 3])
        #expect(objects.files == 2)
        try objects.restart()
        #expect(objects.files == 1)
        #expect(try objects.data("a") == "kept")
    }
}
