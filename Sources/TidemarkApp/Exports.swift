// Re-exports the diagnosis, which the program `tidemark doctor` uses without a client.
@_exported public import TidemarkDiagnosis
