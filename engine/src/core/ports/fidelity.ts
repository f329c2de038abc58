// The fidelity report: what code found when it held a summary against its source, and what it mended. It stands in the
// boundary's metadata, so it holds counts and short quotations, never a text without a cap.

export type FidelityReport = {
  /** Human messages since the last boundary. */
  readonly humanMessages: {
    readonly total: number
    /** In the new context word for word. */
    readonly verbatim: number
    /** Cut in the middle, with a pointer. */
    readonly shortened: number
    /** Not in the summary as the model wrote it: put in from the transcript. */
    readonly putIn: number
  }
  /** Quotations of the user that the user never said: taken out. */
  readonly falseQuotes: readonly string[]
  /** Sentences that told of an approval for which the user's words give no ground: taken out. */
  readonly inferredApprovals: readonly string[]
  /** Paths, identifiers, commands, URLs, numbers that occur nowhere in the source. */
  readonly unsupported: readonly string[]
  /** Sections that the model left out. */
  readonly missingSections: readonly string[]
  /** Facts of the ledger that stand beside the prose. */
  readonly ledgerTokens: number
}
