// Finds the words of a text that cannot be guessed: paths, identifiers, hashes, URLs, versions, references, numbers of
// three digits and more. One pass; a word seen before costs one look-up.

import { eachChunk } from './chunks.ts'
import { looksSecret } from './secrets.ts'

/** The names in each chunk of text met so far. Belongs to one ledger and is thrown away when it has grown. */
export type NameCache = Map<string, readonly string[]>

const longestChunk = 200
const longestName = 80
const cacheLimit = 20_000
const nothing: readonly string[] = []

/** Each name once, in order of appearance. URLs are among them. */
export function namesIn(text: string, cache: NameCache): ReadonlySet<string> {
  if (cache.size > cacheLimit) cache.clear()
  const found = new Set<string>()
  // In code, a line end written as an escape would stick to the word behind it.
  const bare = text.includes('\\') ? text.replace(/\\[nrt]/g, ' ') : text
  eachChunk(bare, (word) => {
    let names = cache.get(word)
    if (names === undefined) {
      names = readChunk(word)
      cache.set(word, names)
    }
    if (names !== nothing) for (const name of names) found.add(name)
  })
  return found
}

const number = /\d{2,12}(?:[-–]\d{2,12})?/g
const labelBefore = /(?:^|[^\w-])([A-Za-z][\w-]{1,24})(["'`*]{0,2} ?[:=#(] ?| ?[<>]=? ?| (?=~)| )["'`#]?(~?)$/
const placeBefore = /([\w-]+\.[a-z]{1,6})[:(]$/
/** What is counted, right behind: `333 insertions`, `130-line`. */
const countedBehind = /^(?: |-)([a-z]{2,20}s|line|word|byte|token|ms|px|KB|MB|GB)\b/
const longestLabel = 40
const mostLooks = 500
const mostNumbers = 24
/** Words that say nothing about the number beside them. */
const idle =
  /^(?:an?|the|on|in|at|to|so|of|or|by|is|it|and|are|was|were|for|from|with|than|then|that|this|both|over|under|since|until|after|before|about|around|only|just|into|all|now|not|no|as|if|has|have|had|be|been|but|up|via|per|pre|post|those|these|its|our|your|my|one|two|three|least|most|nearly|almost|exactly|another|other|first|last|next|do|does|did|got|get|gets|still|also|always|plus|less|more|some|any|each|every|we|you|they|them|there|here|says|see|still|perhaps|thus|us)-?$/i

/** Numbers of three digits and more, each with what it counts or the word or file before it: alone, it says nothing. */
export function numbersIn(text: string): ReadonlySet<string> {
  const found = new Set<string>()
  let looks = 0
  for (const { 0: digits, index } of text.matchAll(number)) {
    if (found.size === mostNumbers || looks++ === mostLooks) break
    const end = index + digits.length
    if (goesOn(text, end)) continue
    const before = onItsLine(text.slice(Math.max(0, index - longestLabel), index))
    const name =
      atPlace(digits, before) ??
      (digits.length >= 3 ? labelled(digits, { before, behind: text.slice(end, end + 24) }) : undefined)
    if (name !== undefined) found.add(name)
  }
  return found
}

/** A word at the end of the line above is no label. */
function onItsLine(before: string): string {
  return before.slice(before.lastIndexOf('\n') + 1)
}

function atPlace(digits: string, before: string): string | undefined {
  const place = /[:(]$/.test(before) ? placeBefore.exec(before)?.[1] : undefined
  return place === undefined ? undefined : `${place}:${digits}`
}

type Around = { readonly before: string; readonly behind: string }

function labelled(digits: string, { before, behind }: Around): string | undefined {
  if (/^(?:19|20)\d\d-/.test(digits)) return undefined
  const [, counted] = countedBehind.exec(behind) ?? []
  const [, label, between = '', about = ''] = labelBefore.exec(before) ?? []
  if (counted !== undefined && !idle.test(counted) && !/[:=(]/.test(between)) return `${about}${digits} ${counted}`
  if (label === undefined || idle.test(label)) return undefined
  if (between === ':' && before.endsWith(':')) return `${label}:${digits}` // localhost:3000, but port 8080
  const than = /[<>]=?/.exec(between)?.[0]
  return than === undefined ? `${label} ${about}${digits}` : `${label} ${than} ${digits}`
}

/** A word or the rest of a number stands right behind: it was no number of its own. */
function goesOn(text: string, end: number): boolean {
  const next = text.charAt(end)
  return /\w/.test(next) || ((next === '.' || next === ':') && /\d/.test(text.charAt(end + 1)))
}

/** The names in one chunk. */
export function readChunk(word: string): readonly string[] {
  const scheme = word.indexOf('://')
  if (scheme > 0) return isUrl(word) ? [cleanUrl(word)] : nothing
  if (looksSecret(word)) return nothing
  if (word.length > longestChunk) return nothing
  if (word.startsWith('#')) return [word]
  const names: string[] = []
  for (const piece of word.split(/[:=?&#%]+/)) {
    const clean = piece.replace(/^(?:[+-]+|\.{3})/, '').replace(/[.+/-]+$/, '')
    if (clean.length < 3 || clean.length > longestChunk) continue
    if (clean.includes('/')) names.push(...readPath(clean))
    else if (!clean.includes('.')) names.push(...readWords(clean))
    else if (isFileName(clean) || isVersion(clean) || isPackage(clean)) names.push(clean)
    else names.push(...packageBefore(clean), ...readWords(clean))
  }
  // A copy has no room to grow: these are kept by the thousand.
  return names.length === 0 ? nothing : [...names]
}

/** Without what stands before and after it, and without the secrets that it carries. */
function cleanUrl(word: string): string {
  return word
    .slice(firstOf(word))
    .replace(/[.,;:!?*&#-]+$/, '')
    .replace(/:\/\/[^/@]*@/, '://')
    .replace(/([?&](?:token|key|api_?key|secret|sig|signature|access_token|password|auth)=)[^&#]+/gi, '$1…')
}

function firstOf(word: string): number {
  return Math.max(0, word.search(/(?:https?|wss?|ssh|git|file|postgres(?:ql)?|redis|mysql|mongodb)(?:\+\w+)?:\/\//))
}

function isUrl(word: string): boolean {
  return (
    word.length <= 300 &&
    /(?:https?|wss?|ssh|git|file|postgres(?:ql)?|redis|mysql|mongodb)(?:\+\w+)?:\/\/[\w[]/.test(word)
  )
}

function readPath(piece: string): readonly string[] {
  if (!/[A-Za-z]/.test(piece) || piece.includes('//')) return piece.split('/').flatMap(readWords)
  // Short words joined by a slash in prose ("and/or") are no path, nor is arithmetic.
  const isPath =
    piece.lastIndexOf('/') > 0 && (piece.split('/').length > 2 || /^[@~./]|[._\d-]|^[a-z]{3,}\/[a-z]{4,}$/.test(piece))
  return isPath && piece.length >= 4 ? [piece] : piece.split('/').flatMap(readWords)
}

/** A file, a host, a member of something named: all read `word.end`, and all may be needed exactly. */
function isFileName(piece: string): boolean {
  return (
    piece.length <= longestName &&
    /^\.?[\w@+-]+(?:\.[\w-]+)*\.(?:[a-z]{1,5}|[a-z]+\d|[A-Z]{1,4})$/.test(piece) &&
    !isMember(piece)
  )
}

/** Members of what has no name of its own are not worth a place. */
function isMember(piece: string): boolean {
  return /^(?:this|self|e|err|res|req|ctx|i|s|t)\./.test(piece)
}

/** `org.example.tools`, `session.agent.state`: a package, a key or a member, three parts and more. */
function isPackage(piece: string): boolean {
  return piece.length <= longestName && /^[a-z]\w*(?:\.[a-z]\w*){2,}$/.test(piece)
}

/** `org.example.tools.DoorOpener`: the package, beside the class that is a name of its own. */
function packageBefore(piece: string): readonly string[] {
  const [, found] = /^([a-z]\w*(?:\.[a-z]\w*){2,})\.[A-Z]/.exec(piece) ?? []
  return found === undefined || found.length > longestName ? nothing : [found]
}

function isVersion(piece: string): boolean {
  return /^v?\d+\.\d+\.\d+[\w.+-]*$/.test(piece) && piece.length <= 40
}

const uuidWithin = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i
const uuidLength = 36

function readWords(piece: string): readonly string[] {
  if (piece.length >= uuidLength && piece.length <= longestName && uuidWithin.test(piece)) return [piece]
  const names: string[] = []
  for (const word of piece.split(/[^\w$]+/)) if (isName(word)) names.push(word)
  return names
}

/** What is left of `2026-01-28T23:04:05Z` between its marks. */
const partOfTime = /^\d{1,2}T\d{2}Z?$|^\d{2,9}Z$/

function isName(word: string): boolean {
  if (word.length < 3 || word.length > longestName || looksSecret(word)) return false
  // Short numbers say nothing alone (see numbersIn); long ones are ids.
  if (/^[\d_]+$/.test(word)) return word.length >= 6 && word.length <= 14
  if (partOfTime.test(word)) return false
  if (/^[0-9a-f]+$/.test(word)) return word.length >= 7 && word.length <= 40 && /\d/.test(word)
  return word.length >= 4 && /[a-z][A-Z]|[A-Z]{2,}[a-z]|[A-Za-z0-9]_+[A-Za-z0-9]|[A-Za-z]\d/.test(word)
}
