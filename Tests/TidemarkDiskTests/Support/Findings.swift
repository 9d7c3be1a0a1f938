/// How many seeds of a few find something: `play` throws what is wrong.
func findings(_ play: (UInt64) throws -> Void) -> Int {
    (UInt64(0)..<20).count { seed in
        do {
            try play(seed)
            return false
        } catch { return true }
    }
}
