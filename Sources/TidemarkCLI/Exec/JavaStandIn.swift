import ArgumentParser
import Foundation
import TidemarkSystem

/// This program under the name `java`, as Firebase's tools call it. Source: functions-events 1.
///
/// - `java -version`: the answer of the real Java if it is new enough for the tools, else an answer
///   of our own.
/// - `java … -jar FILE …` with the file of Firestore's emulator: serves Firestore.
/// - All other calls: the next `java` in PATH.
enum JavaStandIn {
    /// The least version of Java that Firebase's tools take.
    private static let leastVersion = 21

    /// True if this process was started under the name `java`.
    static var isCalled: Bool {
        let name = CommandLine.arguments.first ?? ""
        return name == "java" || name.hasSuffix("/java")
    }

    static func run() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch JavaCall(arguments) {
        case .version: answerVersion()
        case .firestore(let call): await serve(call)
        case .other: runNextJava(arguments)
        }
    }

    private static func serve(_ call: EmulatorCall) async {
        for word in call.unknown { say("\(word) is not understood, and was ignored.") }
        let folder = ProcessInfo.processInfo.environment[StandInFolder.variable]
            .map { StandInFolder($0) }
        var arguments = call.serveArguments
        if let folder { arguments += ["--ports-file=\(folder.portsFile)"] + folder.options }
        let place = FileManager.default.currentDirectoryPath
        let found = (try? FirebaseFile.find(nil, around: place)) ?? nil
        let isOpen = !arguments.contains {
            $0.hasPrefix("--index-policy") || $0.hasPrefix("--firebase-json")
        }
        if let found, isOpen,
            found.indexes != nil || found.databases.contains(where: { $0.indexes != nil })
        {
            // Firestore's emulator runs queries without an index, and so do suites of tests.
            arguments.append("--index-policy=warn")
        }
        await ServeCommand.main(arguments)
        exit(0)
    }

    private static func answerVersion() {
        if let java = nextJava(), let (text, status) = output(of: java, ["-version"]), status == 0,
            (version(in: text) ?? 0) >= leastVersion
        {
            FileHandle.standardError.write(Data(text.utf8))
        } else {
            let line = "openjdk version \"\(leastVersion)\" (Tidemark, for Firestore alone)\n"
            FileHandle.standardError.write(Data(line.utf8))
        }
        exit(0)
    }

    /// Returns the first number of a version, as Firebase's tools read it.
    private static func version(in text: String) -> Int? {
        guard let start = text.range(of: "version \"") else { return nil }
        return Int(text[start.upperBound...].prefix { $0.isASCII && $0.isNumber })
    }

    /// Returns what a program prints, on both streams.
    private static func output(
        of program: String, _ arguments: [String]
    ) -> (text: String, status: Int32)? {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        let pipe = Pipe()
        (process.standardOutput, process.standardError) = (pipe, pipe)
        guard (try? process.run()) != nil else { return nil }
        let data = (try? pipe.fileHandleForReading.readToEnd()) ?? nil
        process.waitUntilExit()
        return (String(decoding: data ?? Data(), as: UTF8.self), process.terminationStatus)
    }

    private static func runNextJava(_ arguments: [String]) {
        guard let java = nextJava() else {
            say("There is no Java, which this call needs: \(arguments.joined(separator: " "))")
            exit(127)
        }
        var argv = (["java"] + arguments).map { strdup($0) } + [nil]
        execv(java, &argv)
        say("\(java) cannot be started.")
        exit(126)
    }

    /// Returns the first `java` in PATH that is not this program; nil if there is none.
    private static func nextJava() -> String? {
        let places = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        let own = ThisProgram.path
        return places.map { $0 + "/java" }.first { candidate in
            FileManager.default.isExecutableFile(atPath: candidate)
                && URL(fileURLWithPath: candidate).resolvingSymlinksInPath().path != own
        }
    }

    private static func say(_ sentence: String) {
        FileHandle.standardError.write(Data("tidemark, as java: \(sentence)\n".utf8))
    }
}

/// The purpose of a call of `java`.
enum JavaCall: Equatable {
    case version
    case firestore(EmulatorCall)
    case other

    /// - Parameter arguments: The arguments after the program's name.
    init(_ arguments: [String]) {
        if let jar = arguments.firstIndex(of: "-jar"), jar + 1 < arguments.count {
            let name = arguments[jar + 1].split(separator: "/").last ?? ""
            self =
                name.hasPrefix("cloud-firestore-emulator")
                ? .firestore(EmulatorCall(Array(arguments[(jar + 2)...]))) : .other
        } else {
            self = arguments.contains("-version") ? .version : .other
        }
    }
}

/// The arguments of Firestore's emulator, in the words of `tidemark serve`.
struct EmulatorCall: Equatable {
    /// The options that have the same meaning, by the emulator's names.
    private static let known = [
        "host": "host", "port": "port", "websocket_port": "requests-port", "rules": "rules",
        "seed_from_export": "import", "functions_emulator": "functions",
        "database-edition": "edition",
    ]
    /// The options without a meaning here. A server has every project, and no need of a channel's
    /// port.
    private static let ignored: Set = [
        "project_id", "single_project_mode", "single_project_mode_error", "webchannel_port",
        "database-mode", "export-on-exit", "export-name", "index_file", "require_indexes",
        "testing", "licenses",
    ]

    private(set) var serveArguments = ["--memory", "--control-port=0", "--accounts=off"]
    /// The options that are not known.
    private(set) var unknown: [String] = []

    /// - Parameter arguments: The arguments after the emulator's file.
    init(_ arguments: [String]) {
        var rest = arguments[...]
        while let word = rest.popFirst() {
            // Words without a name are ignored, as in the emulator.
            guard word.hasPrefix("--") else { continue }
            let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1).map(String.init)
            let name = parts.first ?? ""
            var value = parts.count > 1 ? parts[1] : nil
            if value == nil, let next = rest.first, !next.hasPrefix("--") {
                value = next
                rest.removeFirst()
            }
            if let option = Self.known[name], let value {
                let plain = name == "database-edition" ? value.lowercased() : value
                serveArguments.append("--\(option)=\(plain)")
            } else if !Self.ignored.contains(name) {
                unknown.append(word)
            }
        }
    }
}
