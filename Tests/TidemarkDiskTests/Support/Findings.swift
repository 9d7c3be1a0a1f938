/// Returns how many of 20 seeds find a violation. `play` throws the violation.
func findings(_ play: (UInt64) throws -> Void) -> Int {
    (UInt64(0)..<20).count { seed in
        do {
            try play(seed)
            return false
        } catch { return true }
    }
}
