import Foundation

/// Measures the caller's waiting times at each size. This program starts itself for each part and
/// alternates between the sizes, because a shared machine changes its speed within seconds.
struct CallerSuite {
    let count: Int
    let folder: URL
    let only: [String]
    let report: Report

    private static let readRounds = 7
    private static let writeRounds = 3

    private typealias Samples = [String: [Double]]

    private var steps: [CallerStep] {
        CallerStep.allCases.filter { step in
            only.isEmpty || only.contains { step.rawValue.hasPrefix($0) }
        }
    }

    private func wants(_ steps: [CallerStep]) -> Bool { !Set(steps).isDisjoint(with: self.steps) }

    /// - Returns: True if all limits hold.
    func run() throws -> Bool {
        let sizes = CallerStep.sizes.filter { $0 <= count }
        var ours: [Int: Samples] = [:]
        var raw: [Int: Samples] = [:]
        for size in sizes {
            try prepare(size, ours: &ours[size, default: [:]], raw: &raw[size, default: [:]])
        }
        let reads = CallerStep.allCases.filter { $0 != .update && $0.isFlat }
        for _ in 0..<Self.readRounds where wants(reads) {
            for size in sizes { ours[size]!.add(try child(.reads, size)) }
        }
        for _ in 0..<Self.writeRounds where wants([.update]) {
            for size in sizes { ours[size]!.add(try child(.writes, size)) }
        }
        return sizes.map { addLines(of: $0, ours: ours, raw: raw[$0]!) }.allSatisfy { $0 }
    }

    private func place(_ size: Int) -> URL { folder.appending(path: "caller-\(size)") }

    private func prepare(_ size: Int, ours: inout Samples, raw: inout Samples) throws {
        try FileManager.default.createDirectory(
            at: place(size), withIntermediateDirectories: true)
        ours.add(try child(.load, size))
        if wants(CallerStep.firsts) {
            raw.add(try child(.load, size, raw: true))
            for _ in 0..<Self.writeRounds {
                ours.add(try child(.first, size))
                raw.add(try child(.first, size, raw: true))
            }
        }
        ours.add(try child(.index, size))
    }

    private func child(
        _ part: CallerPart, _ size: Int, raw: Bool = false
    ) throws -> [ClientSample] {
        try BenchmarkChild.samples(
            [
                "caller", "--caller-part", part.rawValue, "--count", String(size),
                "--client-folder", place(size).path,
            ] + (raw ? ["--client-raw"] : []) + steps.flatMap { ["--only", $0.rawValue] })
    }

    private func addLines(of size: Int, ours: [Int: Samples], raw: Samples) -> Bool {
        var lines: [CallerLine] = []
        var isWhole = true
        func lack(_ what: String, _ step: String) {
            report.add(missing: what, of: step, suite: "caller", count: size)
            isWhole = false
        }
        for step in steps {
            guard let rounds = ours[size]?[step.rawValue], !rounds.isEmpty else {
                lack("samples", step.rawValue)
                continue
            }
            if step.worstRatio != nil, raw[step.rawValue]?.isEmpty ?? true {
                lack("yardstick", step.rawValue)
            }
            lines.append(CallerLine(step, count: size, rounds, raw: raw[step.rawValue]))
            let few = ours[CallerStep.flatFrom]?[step.rawValue]
            if step.isFlat, size == CallerStep.sizes.last, let few {
                lines.append(
                    CallerLine(growthOf: step, count: size, few: few, many: rounds))
            }
        }
        for (name, unit) in [("load", "documents/s"), ("size", "MB"), ("memory", "MB")] {
            guard let rounds = ours[size]?[name], !rounds.isEmpty else {
                if only.isEmpty { lack("samples", name) }
                continue
            }
            lines.append(CallerLine(name, count: size, rounds, unit: unit))
        }
        for line in lines { report.add(line) }
        return isWhole && lines.allSatisfy(\.holds)
    }
}

extension [String: [Double]] {
    fileprivate mutating func add(_ samples: [ClientSample]) {
        for sample in samples { self[sample.step, default: []].append(sample.value) }
    }
}
