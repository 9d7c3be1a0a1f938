/// A pattern compiled into instructions for ``PatternMachine``.
struct PatternProgram: Sendable {
    enum Instruction: Sendable {
        case set(ScalarSet)
        /// Continues at both instructions, preferring the first.
        case split(Int, Int)
        case jump(Int)
        /// Records the position: in an even slot at the start of a group, in an odd slot at its
        /// end.
        case save(Int)
        case boundary(PatternTree.Boundary)
        case match
    }

    private(set) var instructions: [Instruction] = []
    let groups: Int

    /// The maximum number of instructions: far more than hand-written patterns need, and few enough
    /// to follow in parallel.
    static let mostInstructions = 10_000

    init(_ tree: PatternTree, groups: Int) throws(InvalidPattern) {
        self.groups = groups
        try add(.save(0))
        try compile(tree)
        try add(.save(1))
        try add(.match)
    }

    private mutating func add(_ instruction: Instruction) throws(InvalidPattern) {
        if instructions.count >= Self.mostInstructions {
            throw InvalidPattern(message: "pattern too large")
        }
        instructions.append(instruction)
    }

    private mutating func compile(_ tree: PatternTree) throws(InvalidPattern) {
        switch tree {
        case .nothing: break
        case .set(let set): try add(.set(set))
        case .boundary(let boundary): try add(.boundary(boundary))
        case .sequence(let parts): for part in parts { try compile(part) }
        case .group(let inner, let number):
            try add(.save(number * 2))
            try compile(inner)
            try add(.save(number * 2 + 1))
        case .choice(let branches): try compile(branches[...])
        case .repetition(let inner, let least, let most, let isGreedy):
            for _ in 0..<least { try compile(inner) }
            if let most {
                try compileOptional(inner, count: most - least, isGreedy: isGreedy)
            } else {
                try compileLoop(inner, isGreedy: isGreedy)
            }
        }
    }

    private mutating func compile(_ branches: ArraySlice<PatternTree>) throws(InvalidPattern) {
        var jumps: [Int] = []
        for branch in branches.dropLast() {
            let split = instructions.count
            try add(.match)
            try compile(branch)
            jumps.append(instructions.count)
            try add(.match)
            instructions[split] = .split(split + 1, instructions.count)
        }
        if let last = branches.last { try compile(last) }
        for jump in jumps { instructions[jump] = .jump(instructions.count) }
    }

    private mutating func compileOptional(
        _ inner: PatternTree, count: Int, isGreedy: Bool
    ) throws(InvalidPattern) {
        var splits: [Int] = []
        for _ in 0..<count {
            splits.append(instructions.count)
            try add(.match)
            try compile(inner)
        }
        for split in splits {
            let (inside, behind) = (split + 1, instructions.count)
            instructions[split] = isGreedy ? .split(inside, behind) : .split(behind, inside)
        }
    }

    private mutating func compileLoop(
        _ inner: PatternTree, isGreedy: Bool
    ) throws(InvalidPattern) {
        let split = instructions.count
        try add(.match)
        try compile(inner)
        try add(.jump(split))
        let (inside, behind) = (split + 1, instructions.count)
        instructions[split] = isGreedy ? .split(inside, behind) : .split(behind, inside)
    }
}
