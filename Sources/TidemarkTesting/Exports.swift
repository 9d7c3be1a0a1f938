// Re-exports the types that a test of rules uses, so `import TidemarkTesting` alone is enough.
@_exported public import enum TidemarkRules.RulesOperation
@_exported public import enum TidemarkRules.RulesPerson
// The clock and the scripted server, which tests of this package's lower targets use too.
@_exported public import TidemarkTestKit
