// What code found when it checked a summary against its source. It is part of the boundary's metadata, so every text in it
// is short.

export type FidelityReport = {
  /** Human messages since the last boundary. */
  readonly humanMessages: {
    readonly total: number
    /** Verbatim in the new context. */
    readonly verbatim: number
    /** With less than all of its words. */
    readonly shortened: number
    /** Missing or altered in the summary: added from the transcript. */
    readonly putIn: number
  }
  /** Quotations of the user that were not found: marked. */
  readonly falseQuotes: readonly string[]
  /** Claims of an approval that no message of the user supports: marked. */
  readonly inferredApprovals: readonly string[]
  /** Claims about state that contradict what was last seen: marked. */
  readonly contradicted: readonly string[]
  /** Paths, identifiers, hashes, addresses, numbers that occur nowhere in the source. */
  readonly unsupported: readonly string[]
  /** Sections that the model left out. */
  readonly missingSections: readonly string[]
  /** Tokens of facts that code added. */
  readonly ledgerTokens: number
}
