// What a search of a session returns.
export type RecallMatch = {
  readonly id: string
  readonly kind: string
  readonly time: string | undefined
  readonly snippet: string
}

export type Recalled = { readonly matches: readonly RecallMatch[]; readonly more: boolean }
