// Signatures that only this simulator can write: over a thinking block's text, over a summary's text, and over what
// stood before it. The same seed makes the same secret, so a conversation outlives the process.
import { createHmac } from 'node:crypto'
import { isObject } from 'everlong/internal'

/** The content of a thinking block's signature. */
export type ThinkingClaim = {
  readonly kind: 'thinking'
  readonly model: string
  /** The digest of system, tools and all earlier blocks. Empty for models that do not bind. */
  readonly prefix: string
  /** The mark of the previous thinking block, and the number of blocks, to detect gaps and returns. */
  readonly previous: string
  readonly seen: number
  /** Its index among the thinking blocks that directly precede it, because a run must be sent whole. */
  readonly run: number
  /** Tokens for reading it, even if its text was withheld. */
  readonly tokens: number
  readonly isHidden: boolean
}

/** The content of a compaction block's signature: the digest of its text, and the end of the range that it replaces. */
export type CompactionClaim = { readonly kind: 'compaction'; readonly prefix: string; readonly text: string }

/** A text that only this simulator can read back: the encrypted content of the Responses API. */
export type SealedClaim = { readonly kind: 'sealed'; readonly text: string }

export type Claim = ThinkingClaim | CompactionClaim | SealedClaim

const kinds: readonly unknown[] = ['thinking', 'compaction', 'sealed'] satisfies readonly Claim['kind'][]

export type Signer = {
  readonly sign: (claim: Claim, text: string) => string
  /** The claim, if the signature is ours and matches this text. */
  readonly read: (signature: string, text: string) => Claim | undefined
  /** The claim without a check, for a signature that was checked before. */
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

/** The short name of a signature, which the next one contains. */
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
