/// Follows all ways through a program at once, one character after the other (Thompson, Pike).
struct PatternMachine {
    private let program: [PatternProgram.Instruction]
    private let text: [Unicode.Scalar]
    private let slots: Int
    /// Where an instruction was last reached, so that no place has it twice.
    private var reached: [Int]
    private var round = 0

    /// The next instruction of one way through the program, and what its groups hold so far.
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

    /// The leftmost match from a place on, as places of its groups, -1 for those that took no part.
    ///
    /// - Parameters:
    ///   - isWhole: Whether it must begin at the place and end with the text; the places are then none.
    ///   - steps: Counted down; below zero the search has ended without an answer.
    mutating func match(from start: Int, isWhole: Bool, steps: inout Int) -> [Int]? {
        // Preferred ways first.
        var current: [Way] = []
        var following: [Way] = []
        var found: [Int]?
        var place = start
        round += 1
        while true {
            // A new way begins at each place, behind those that began before.
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
                    guard place < text.count, set.contains(text[place]) else { continue }
                    let next = Way(instruction: way.instruction + 1, groups: way.groups)
                    follow(next, at: place + 1, into: &following, &steps)
                    continue
                case .split, .jump, .save, .boundary: continue
                }
                // What is less preferred than a match is of no interest.
                break
            }
            swap(&current, &following)
            if place == text.count { return found }
            place += 1
        }
    }

    /// Adds a way and all that it leads to without a character, preferred ones first.
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
