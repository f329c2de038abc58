// Making foreign text safe to quote: one line, no secrets, no control characters, a cap. It never becomes markup.
// The ledger is carried from context to context and stored, and a secret that was once in an output has no business there.
// Secrets are replaced, never refused: a hit must not stop a compaction.
import { clippedAtWord } from '../text/cut.ts'

/** Line ends, controls, and the marks that reverse or hide text. Matched to be replaced, so controls are meant. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const unsafe = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]+/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal colors start with one
const colors = /\u001b\[[0-9;?]*[A-Za-z]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?/g

/** The text on one line without secrets, cut at its end to `longest` characters. Never splits a surrogate pair. */
export function oneLine(text: string, longest: number): string {
  // Only the part that can be shown is looked at: an output may be megabytes long.
  const part = withoutSecrets(text.length > longest * 4 ? text.slice(0, longest * 4) : text)
  return clippedAtWord(
    part.replace(colors, '').replace(unsafe, ' ').replace(/\s+/g, ' ').trim().toWellFormed(),
    longest,
  )
}

export function withoutColors(text: string): string {
  return text.includes('\u001b') ? text.replace(colors, '') : text
}

/** Keys of well-known services, by the prefix they give them. */
const known =
  /\b(?:sk|pk|rk)[-_](?:ant|proj|live|test|or)?[-_]?[\w-]{16,}|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bxox[abeprs]-[\w-]{10,}|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[\w-]{30,}|\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?|\b(?:npm|hf|dop_v1|shpat)_\w{24,}/g
/** A value behind a name such as `password`, unless it is a variable or a placeholder. */
const named =
  /((?:\b|_)(?:password|passwd|pwd|secret|token|api_?-?key|access_?-?key|private_?-?key|credentials?)["']?\s*[:=]\s*["']?)(?!\$|<|\[|\{|process\.|os\.|env\b)([^\s"'&;,)]{6,})/gi
/** In an Authorization header. */
const bearer = /\b(Bearer|Basic) [\w.~+/=-]{12,}/g
/** The password in an address: `https://user:password@host`. */
const inUrl = /(:\/\/[^\s:@/]{0,64}:)[^\s@/]{1,128}(?=@)/g
/** A private key in PEM form, also one that was cut off. */
const block = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g

const mark = '[redacted]'

export function withoutSecrets(text: string): string {
  // Looking for a fixed word first is much cheaper than trying a pattern everywhere, and most texts hold none of these.
  const keyless = text.includes('-----BEGIN ') ? text.replace(block, mark) : text
  const unknown = keyless.replace(known, mark)
  const bears = unknown.includes('Bearer ') || unknown.includes('Basic ')
  const unborne = bears ? unknown.replace(bearer, `$1 ${mark}`) : unknown
  const anonymous = unborne.includes('://') ? unborne.replace(inUrl, `$1${mark}`) : unborne
  return anonymous.replace(named, `$1${mark}`)
}
