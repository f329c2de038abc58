// Keeps keys, tokens and passwords out of the ledger: it is carried from context to context and stored, and a secret
// that was once in an output has no business there. It replaces and never refuses: a hit must not stop a compaction.

const known =
  /\b(?:sk|pk|rk)[-_](?:ant|proj|live|test|or)?[-_]?[\w-]{16,}|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bxox[abeprs]-[\w-]{10,}|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[\w-]{30,}|\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?|\b(?:npm|hf|dop_v1|shpat)_\w{24,}/g
const named =
  /((?:\b|_)(?:password|passwd|pwd|secret|token|api_?-?key|access_?-?key|private_?-?key|credentials?)["']?\s*[:=]\s*["']?)(?!\$|<|\[|\{|process\.|os\.|env\b)([^\s"'&;,)]{6,})/gi
const bearer = /\b(Bearer|Basic) [\w.~+/=-]{12,}/g
const inUrl = /(:\/\/[^\s:@/]{0,64}:)[^\s@/]{1,128}(?=@)/g
const block = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g

const mark = '[redacted]'

export function withoutSecrets(text: string): string {
  // To look for a fixed word is much cheaper than to try a pattern at every place, and most texts hold none of these.
  const keyless = text.includes('-----BEGIN ') ? text.replace(block, mark) : text
  const unknown = keyless.replace(known, mark)
  const bears = unknown.includes('Bearer ') || unknown.includes('Basic ')
  const unborne = bears ? unknown.replace(bearer, `$1 ${mark}`) : unknown
  const anonymous = unborne.includes('://') ? unborne.replace(inUrl, `$1${mark}`) : unborne
  return anonymous.replace(named, `$1${mark}`)
}

/** Ids are shaken too, and no secret: folders of one session carry them. */
const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi

/** Letters of both cases and digits, long and well shaken: a key, where a name would have words in it. */
export function looksSecret(word: string): boolean {
  if (word.length < 20) return false
  if (word.search(known) >= 0) return true
  const rest = word.replace(uuid, '')
  const changes = rest.match(/[A-Za-z]\d|\d[A-Za-z]/g)?.length ?? 0
  return changes >= 4 && /[a-z]/.test(rest) && /[A-Z]/.test(rest)
}
