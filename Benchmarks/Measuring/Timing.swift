// Times are in microseconds, because every step takes between one and a few million of them.

private let clock = ContinuousClock()

private func microseconds(_ duration: Duration) -> Double { duration / .microseconds(1) }

func time(_ body: () throws -> Void) rethrows -> Double {
    microseconds(try clock.measure(body))
}

func time(_ body: () async throws -> Void) async rethrows -> Double {
    let start = clock.now
    try await body()
    return microseconds(clock.now - start)
}

extension [Double] {
    var median: Double { sorted()[count / 2] }
}

/// Returns the median time of the rounds. `body` returns the number of its results, which must not
/// be zero.
func median(_ rounds: Int, _ body: (Int) throws -> Int) rethrows -> Double {
    var results: [Double] = []
    for round in 0..<rounds {
        var found = 0
        results.append(try time { found = try body(round) })
        precondition(found > 0, "a step that finds nothing measures nothing")
    }
    return results.median
}

func median(_ rounds: Int, _ body: (Int) async throws -> Int) async rethrows -> Double {
    var results: [Double] = []
    for round in 0..<rounds {
        var found = 0
        results.append(try await time { found = try await body(round) })
        precondition(found > 0, "a step that finds nothing measures nothing")
    }
    return results.median
}

/// Returns the time of all rounds divided by their number, with `width` rounds in progress at any
/// time.
func mean(
    _ rounds: Int, width: Int, _ body: @escaping @Sendable (Int) async throws -> Int
) async throws -> Double {
    let total = try await time {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for lane in 0..<width {
                group.addTask {
                    var found = 0
                    for round in stride(from: lane, to: rounds, by: width) {
                        found += try await body(round)
                    }
                    return found
                }
            }
            for try await found in group { precondition(found > 0) }
        }
    }
    return total / Double(rounds)
}
