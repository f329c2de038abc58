// Texts that look like what agents read and write. Composed once into a pool and cut at varying places, because
// composing hundreds of megabytes word by word would take too long.
import type { Random } from '../random.ts'
import { adjectives, foreign, joiners, nouns, phrases, verbs } from './words.ts'

export type TextKind = 'prose' | 'code' | 'markdown' | 'json' | 'log'

export type TextPool = {
  /** Whole lines with about this many characters. */
  cut(kind: TextKind, chars: number): string
  base64(chars: number): string
  /** The header of a 1280 × 800 PNG, then noise. */
  png(chars: number): string
  sentence(): string
}

const poolChars = 32_768

/** Signature and IHDR chunk in base64: 33 bytes, a multiple of three. */
const pngHead = 'iVBORw0KGgoAAAANSUhEUgAABQAAAAMgCAIAAADz+lis'

export function textPool(random: Random): TextPool {
  const texts = new Map<string, string>()
  const textOf = (key: string, compose: () => string) => {
    const known = texts.get(key)
    if (known !== undefined) return known
    let text = ''
    while (text.length < poolChars) text += compose()
    texts.set(key, text)
    return text
  }
  const base64 = (chars: number) =>
    cutAnywhere(
      textOf('base64', () => base64Chunk(random)),
      random,
      chars,
    )
  return {
    cut: (kind, chars) =>
      cutLines(
        textOf(kind, () => compose(random, kind)),
        random,
        chars,
      ),
    base64,
    png: (chars) => pngHead + base64(chars).slice(pngHead.length),
    sentence: () => sentence(random),
  }
}

function cutLines(text: string, random: Random, chars: number): string {
  const start = text.indexOf('\n', random.int(0, text.length - 2)) + 1
  const ring = start === text.length ? 0 : start
  let taken = ''
  let at = ring
  while (taken.length < chars) {
    const rest = chars - taken.length
    const end = at + rest >= text.length ? text.length : text.indexOf('\n', at + rest - 1) + 1
    taken += text.slice(at, end)
    at = end >= text.length ? 0 : end
  }
  return taken.endsWith('\n') ? taken.slice(0, -1) : taken
}

function cutAnywhere(text: string, random: Random, chars: number): string {
  const start = random.int(0, text.length - 1)
  let taken = text.slice(start, start + chars)
  while (taken.length < chars) taken += text.slice(0, chars - taken.length)
  return taken
}

function base64Chunk(random: Random): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  return Array.from({ length: 512 }, () => alphabet[random.int(0, 63)]).join('')
}

function sentence(random: Random): string {
  const thing = random.chance(0.02) ? random.pick(foreign) : random.pick(nouns)
  const head = `${random.pick(verbs)} the ${random.pick(adjectives)} ${thing} ${random.pick(joiners)} ${random.pick(phrases)}`
  return `${head[0]?.toUpperCase()}${head.slice(1)}.`
}

function compose(random: Random, kind: TextKind): string {
  switch (kind) {
    case 'prose':
      return `${Array.from({ length: random.int(1, 4) }, () => sentence(random)).join(' ')}\n`
    case 'code':
      return code(random)
    case 'markdown':
      return `## ${title(random)}\n\n${sentence(random)} ${sentence(random)}\n\n- ${sentence(random)}\n- \`${name(random)}\`: ${sentence(random)}\n\n`
    case 'json':
      return `  { "id": ${random.int(1, 99_999)}, "name": "${name(random)}", "state": "${random.pick(adjectives)}", "tags": ["${random.pick(nouns)}", "${random.pick(nouns)}"] },\n`
    case 'log':
      return log(random)
  }
}

function code(random: Random): string {
  const [thing, act] = [name(random), random.pick(verbs)]
  const kinds = [
    () =>
      `export function ${thing}(${random.pick(nouns)}: string, limit = ${random.int(1, 500)}): number {\n  // ${sentence(random)}\n  if (limit === 0) return ${random.int(0, 9)}\n  return ${act}All(limit).filter((item) => item.${random.pick(adjectives)}).length\n}\n\n`,
    () =>
      `const ${thing} = {\n  ${random.pick(nouns)}: '${random.pick(adjectives)}',\n  ${random.pick(verbs)}After: ${random.int(10, 9000)},\n} as const\n\n`,
    () =>
      `test('${act} the ${random.pick(adjectives)} ${random.pick(nouns)}', async () => {\n  const ${thing} = await ${act}(\`${random.pick(nouns)}/${random.int(1, 99)}\`)\n  expect(${thing}.status).toBe(${random.int(200, 503)})\n})\n\n`,
    () => `import { ${thing} } from './${random.pick(nouns)}.ts'\n`,
    () =>
      `export type ${thing[0]?.toUpperCase()}${thing.slice(1)} = {\n  readonly id: string\n  readonly ${random.pick(nouns)}?: number | undefined\n  /** ${sentence(random)} */\n  readonly ${random.pick(adjectives)}: boolean\n}\n\n`,
  ] as const
  return random.pick(kinds)()
}

function log(random: Random): string {
  const at = `${String(random.int(0, 23)).padStart(2, '0')}:${String(random.int(0, 59)).padStart(2, '0')}:${String(random.int(0, 59)).padStart(2, '0')}`
  const kinds = [
    () => ` PASS src/${random.pick(nouns)}.test.ts (${random.int(1, 40)} tests) ${random.int(2, 900)}ms\n`,
    () =>
      `${at} INFO  [${random.pick(nouns)}] ${random.pick(verbs)} ${random.int(1, 5000)} rows in ${random.int(1, 900)} ms\n`,
    () => `${at} WARN  [${random.pick(nouns)}] ${random.pick(phrases)}\n`,
    () => `    at ${name(random)} (src/${random.pick(nouns)}.ts:${random.int(1, 400)}:${random.int(1, 80)})\n`,
    () =>
      `src/${random.pick(nouns)}.ts:${random.int(1, 400)}:  const ${name(random)} = ${random.pick(verbs)}(${random.pick(nouns)})\n`,
  ] as const
  return random.pick(kinds)()
}

export function name(random: Random): string {
  const noun = random.pick(nouns)
  return `${random.pick(verbs)}${noun[0]?.toUpperCase()}${noun.slice(1)}`
}

export function title(random: Random): string {
  const verb = random.pick(verbs)
  return `${verb[0]?.toUpperCase()}${verb.slice(1)} the ${random.pick(adjectives)} ${random.pick(nouns)}`
}
