// Re-exports the types that a test of rules uses, so `import TidemarkTesting` alone is enough.
@_exported public import enum TidemarkRules.RulesOperation
@_exported public import enum TidemarkRules.RulesPerson
