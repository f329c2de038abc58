// Globs as people write them in .gitignore files and permission rules, as regular expressions.

/** A longer pattern is an attack or a mistake. */
const maxGlobLength = 1_000

/** If the file system does not distinguish `.env` and `.ENV`, rules must not either. */
const flags = process.platform === 'darwin' || process.platform === 'win32' ? 'si' : 's'

export type Glob = (path: string) => boolean

/**
 * `*` and `?` match within one part of a path, `**` across parts; `[a-z]`, `{a,b}`, and `\` to escape a character. Takes paths
 * with `/`. Throws if the pattern is too long.
 */
export function glob(pattern: string): Glob {
  const whole = new RegExp(`^${sourceOf(pattern)}$`, 's')
  return (path) => whole.test(path)
}

/**
 * Like a line of .gitignore: without a slash it matches at any depth, with one it starts at the folder. A match covers everything
 * below it.
 */
export function ignoreGlob(pattern: string): { readonly own: Glob; readonly below: Glob } {
  const trimmed = pattern.replace(/\/+$/, '')
  const isAnchored = trimmed.includes('/')
  const source = sourceOf(trimmed.replace(/^\//, ''))
  const start = isAnchored ? '^' : '^(?:.*/)?'
  const own = new RegExp(`${start}${source}$`, flags)
  const below = new RegExp(`${start}${source}(?:/.*)?$`, flags)
  return { own: (path) => own.test(path), below: (path) => below.test(path) }
}

/** A pattern that matches only this text. */
export function escapeGlob(text: string): string {
  return text.replace(/[\\*?[\]{},!]/g, '\\$&')
}

function sourceOf(given: string): string {
  if (given.length > maxGlobLength) throw new Error(`The pattern is longer than ${maxGlobLength} characters.`)
  // `**/**` means the same as `**`, and its expression would be slow.
  const pattern = given.replace(/(?:\*\*\/)+(?=\*\*)/g, '').replace(/\*{3,}/g, '**')
  let source = ''
  const closings = bracesIn(pattern)
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at] ?? ''
    if (char === '*' && pattern[at + 1] === '*') {
      const isWhole = (at === 0 || pattern[at - 1] === '/') && pattern[at + 2] === '/'
      source += isWhole ? '(?:.*/)?' : '.*'
      at += isWhole ? 2 : 1
    } else if (char === '*') source += '[^/]*'
    else if (char === '?') source += '[^/]'
    else if (char === '[') {
      const set = /^\[(!|\^)?(\]?[^\]/]*)\]/.exec(pattern.slice(at))
      source += set ? `(?!/)[${set[1] === undefined ? '' : '^'}${(set[2] ?? '').replace(/[\\[\]]/g, '\\$&')}]` : '\\['
      at += set ? set[0].length - 1 : 0
    } else if (char === '\\') {
      at++
      source += literal(pattern[at] ?? '\\')
    } else if (closings.has(at)) source += char === '{' ? '(?:' : char === ',' ? '|' : ')'
    else source += literal(char)
  }
  return source
}

function literal(char: string): string {
  return char.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

/** Positions of braces and commas of complete alternatives. Other braces are literal. */
function bracesIn(pattern: string): ReadonlySet<number> {
  const found = new Set<number>()
  const open: number[][] = []
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at]
    if (char === '\\') at++
    else if (char === '{') open.push([at])
    else if (char === ',') open.at(-1)?.push(at)
    else if (char === '}') {
      const places = open.pop()
      for (const place of places ? [...places, at] : []) found.add(place)
    }
  }
  return found
}
