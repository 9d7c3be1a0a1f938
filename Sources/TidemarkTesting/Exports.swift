// What a test of rules says, with `import TidemarkTesting` alone.
@_exported public import enum TidemarkRules.RulesOperation
@_exported public import enum TidemarkRules.RulesPerson
