// Atoms: the words of a text that cannot be guessed and that an agent must have exactly: paths, code identifiers,
// hashes, URLs, numbers of three digits and more. What fidelity is counted in; the ledger has its own reading.

const url = /https?:\/\/[^\s"'`<>()[\]{}\\|]+/g
const path = /(?:~|\.{1,2})?\/?[\w@+-][\w@.+-]*(?:\/[\w@.+-]+)+\/?/g
const file = /\b[\w@+-][\w@+-]*(?:\.[\w-]+)*\.(?:[a-z]{1,5}|[A-Z]{1,4}|[a-z]+\d)\b/g
const word = /(?<![\w$])[A-Za-z_$][\w$]*/g
const number = /\b\d{3,}\b/g
const hash = /\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b/g

/** A word that somebody made up for code: an inner capital, an underscore or a digit between letters. */
function isIdentifier(text: string): boolean {
  return text.length >= 4 && /[a-z][A-Z]|[A-Z]{2,}[a-z]|\w_\w|[A-Za-z]\d/.test(text) && /[A-Za-z]/.test(text)
}

export function atomsOf(text: string): ReadonlySet<string> {
  const atoms = new Set<string>()
  // An escaped line end in code would stick to the word after it.
  const rest = text.replace(/\\[nrt]/g, ' ').replace(url, (found) => {
    atoms.add(found.replace(/[.,;:!?*]+$/, ''))
    return ' '
  })
  for (const [found] of rest.matchAll(path)) {
    const clean = found.replace(/[./]+$/, '')
    if (clean.length >= 4 && /[A-Za-z]/.test(clean)) atoms.add(clean)
  }
  for (const [found] of rest.matchAll(file)) if (!/^(?:e\.g|i\.e)$/i.test(found)) atoms.add(found)
  for (const [found] of rest.matchAll(word)) if (isIdentifier(found)) atoms.add(found)
  for (const [found] of rest.matchAll(number)) atoms.add(found)
  for (const [found] of rest.matchAll(hash)) atoms.add(found)
  return atoms
}
