/// Follows all paths through a program in parallel, one character at a time (Thompson, Pike).
struct PatternMachine {
    private let program: [PatternProgram.Instruction]
    private let text: [Unicode.Scalar]
    private let slots: Int
    /// The round in which each instruction was last reached, so that each is visited once per
    /// position.
    private var reached: [Int]
    private var round = 0

    /// A path through the program: its next instruction, and the positions of its groups so far.
    private struct Way {
        let instruction: Int
        var groups: [Int]
    }

    init(_ program: PatternProgram, _ text: [Unicode.Scalar], keepsGroups: Bool) {
        self.program = program.instructions
        self.text = text
        slots = keepsGroups ? (program.groups + 1) * 2 : 0
        reached = [Int](repeating: -1, count: program.instructions.count)
    }

    /// Returns the positions of the groups of the leftmost match at or after `start`; -1 for groups
    /// that did not take part.
    ///
    /// - Parameters:
    ///   - isWhole: True if the match must begin at `start` and end with the text. The result then
    ///     has no positions.
    ///   - steps: The remaining steps. A negative number means that the search ended without a
    ///     result.
    mutating func match(from start: Int, isWhole: Bool, steps: inout Int) -> [Int]? {
        // The paths, in the order of preference.
        var current: [Way] = []
        var following: [Way] = []
        var found: [Int]?
        var place = start
        round += 1
        while true {
            // A new path begins at each position, with a lower preference than earlier paths.
            if found == nil, place == start || !isWhole {
                let groups = [Int](repeating: -1, count: slots)
                follow(Way(instruction: 0, groups: groups), at: place, into: &current, &steps)
            }
            if current.isEmpty, found != nil || isWhole { return found }
            if steps < 0 { return nil }
            round += 1
            following.removeAll(keepingCapacity: true)
            for way in current {
                steps -= 1
                switch program[way.instruction] {
                case .match:
                    if isWhole, place < text.count { continue }
                    found = way.groups
                case .set(let set):
                    steps -= set.steps - 1
                    guard place < text.count, set.contains(text[place]) else { continue }
                    let next = Way(instruction: way.instruction + 1, groups: way.groups)
                    follow(next, at: place + 1, into: &following, &steps)
                    continue
                case .split, .jump, .save, .boundary: continue
                }
                // Paths with a lower preference than a match are dropped.
                break
            }
            swap(&current, &following)
            if place == text.count { return found }
            place += 1
        }
    }

    /// Adds a path and all paths that it reaches without a character, in the order of preference.
    private mutating func follow(
        _ way: Way, at place: Int, into list: inout [Way], _ steps: inout Int
    ) {
        var rest = [way]
        while var way = rest.popLast() {
            if reached[way.instruction] == round { continue }
            reached[way.instruction] = round
            steps -= 1
            switch program[way.instruction] {
            case .jump(let target): rest.append(Way(instruction: target, groups: way.groups))
            case .split(let first, let second):
                rest.append(Way(instruction: second, groups: way.groups))
                rest.append(Way(instruction: first, groups: way.groups))
            case .save(let slot):
                if slot < slots { way.groups[slot] = place }
                rest.append(Way(instruction: way.instruction + 1, groups: way.groups))
            case .boundary(let boundary):
                if holds(boundary, at: place) {
                    rest.append(Way(instruction: way.instruction + 1, groups: way.groups))
                }
            case .set, .match: list.append(way)
            }
        }
    }

    private func holds(_ boundary: PatternTree.Boundary, at place: Int) -> Bool {
        switch boundary {
        case .textStart: return place == 0
        case .textEnd: return place == text.count
        case .lineStart: return place == 0 || text[place - 1] == "\n"
        case .lineEnd: return place == text.count || text[place] == "\n"
        case .word, .noWord:
            let before = place > 0 && text[place - 1].isWordCharacter
            let after = place < text.count && text[place].isWordCharacter
            return (before != after) == (boundary == .word)
        }
    }
}
