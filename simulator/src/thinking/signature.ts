// Signatures that only this simulator can write: over a thinking block's text, over a summary's text, and over what
// stood before it. The same seed makes the same secret, so a conversation outlives the process.
import { createHmac } from 'node:crypto'
import { isObject } from 'everlong/internal'

/** What a thinking block's signature remembers of its making. */
export type ThinkingClaim = {
  readonly kind: 'thinking'
  readonly model: string
  /** The digest of system, tools and all earlier blocks; empty for models that do not bind. */
  readonly prefix: string
  /** The mark of the thinking block before it, and how many there were: gaps and returns show. */
  readonly previous: string
  readonly seen: number
  /** Its place among the thinking blocks that directly precede it: a run must come back whole. */
  readonly run: number
  /** What it costs to read, also where its text was kept back. */
  readonly tokens: number
  readonly isHidden: boolean
}

/** What a compaction block's signature remembers: the digest of its text, and where the range that it replaces ended. */
export type CompactionClaim = { readonly kind: 'compaction'; readonly prefix: string; readonly text: string }

/** A text that only this simulator can read back: the encrypted content of the Responses API. */
export type SealedClaim = { readonly kind: 'sealed'; readonly text: string }

export type Claim = ThinkingClaim | CompactionClaim | SealedClaim

const kinds: readonly unknown[] = ['thinking', 'compaction', 'sealed'] satisfies readonly Claim['kind'][]

export type Signer = {
  readonly sign: (claim: Claim, text: string) => string
  /** The claim, if the signature is ours and belongs to this text. */
  readonly read: (signature: string, text: string) => Claim | undefined
  /** The claim as it is, for a signature that was checked before. */
  readonly peek: (signature: string) => Claim | undefined
}

export function createSigner(seed: number): Signer {
  const secret = `everlong simulator ${seed}`
  const mac = (payload: string, text: string) =>
    createHmac('sha256', secret).update(payload).update(text).digest('base64url')
  return {
    sign: (claim, text) => {
      const payload = Buffer.from(JSON.stringify(claim)).toString('base64url')
      return `${payload}.${mac(payload, text)}`
    },
    read: (signature, text) => {
      const [payload = '', found = ''] = signature.split('.')
      return found !== '' && found === mac(payload, text) ? claimOf(payload) : undefined
    },
    peek: (signature) => (signature.includes('.') ? claimOf(signature.split('.')[0] ?? '') : undefined),
  }
}

/** The short name of a signature, by which the next one remembers it. */
export function markOf(signature: string): string {
  return signature.slice(-16)
}

function claimOf(payload: string): Claim | undefined {
  const value = parsed(Buffer.from(payload, 'base64url').toString())
  return isObject(value) && kinds.includes(value.kind) ? (value as Claim) : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
