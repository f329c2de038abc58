// Text that packages hold too little of but agents see daily, made by seed: encodings, numbers, logs, blank space,
// emoji, and the shapes that break estimators (runs of one mark, unbroken letters, rare Han).
import { type Random, randomFrom } from '../random.ts'
import type { Sample, Split } from './sample.ts'

type Maker = (random: Random) => string

const marks = ['-', '=', '*', '#', '_', '.', '/', '~', '+', '>', '<', '|', ':', ' ']
const words =
  `the of and to in that is was for with as his on be at by had not are but from or have an they which one you were all
her she there would their we him been has when who will no more if out so up said what its about than into them can only other time
request server error connection user session cache index update failed loaded config worker thread timeout retry database query
started stopped listening port module compile bundle chunk asset warning deprecated version release build test suite passed`.split(
    /\s+/,
  )
const emoji = [...'😀😂🤣😍🔥🎉🚀✅❌⚠️👍👎💡📦🔧🐛✨📝🙏💯🤖🧪🎯⏳🔒🌍🇫🇷🇯🇵👩‍💻❤️⭐']

function repeat(count: number, make: (index: number) => string, separator = ''): string {
  return Array.from({ length: count }, (_, index) => make(index)).join(separator)
}

function hex(random: Random, length: number): string {
  return repeat(length, () => random.below(16).toString(16))
}

function uuid(random: Random): string {
  return [8, 4, 4, 4, 12].map((length) => hex(random, length)).join('-')
}

function bytes(random: Random): Buffer {
  return Buffer.from(Array.from({ length: 200 + random.below(2_000) }, () => random.below(256)))
}

function sentence(random: Random): string {
  return repeat(4 + random.below(10), () => random.pick(words), ' ')
}

function time(random: Random): string {
  return new Date(1.7e12 + random.below(5e10)).toISOString()
}

function logLine(random: Random): string {
  const level = random.pick(['INFO', 'WARN', 'ERROR', 'DEBUG'])
  const forms: readonly (() => string)[] = [
    () => `${time(random)} ${level} [${random.pick(words)}-${random.below(64)}] ${sentence(random)}`,
    () => `[${time(random).slice(11, 19)}] ${level.toLowerCase()}: ${sentence(random)} (${random.below(9_000)}ms)`,
    () =>
      `10.${random.below(255)}.${random.below(255)}.${random.below(255)} - - "GET /${random.pick(words)}/${random.below(9_999)} HTTP/1.1" ${random.pick([200, 304, 404, 500])} ${random.below(90_000)}`,
    () =>
      `    at ${random.pick(words)}.${random.pick(words)} (/app/src/${random.pick(words)}/${random.pick(words)}.ts:${random.below(900)}:${random.below(80)})`,
    () =>
      `-rw-r--r--  1 user  staff  ${random.below(99_999)} Mar ${1 + random.below(28)} 12:${10 + random.below(49)} ${random.pick(words)}.${random.pick(['ts', 'go', 'md', 'json'])}`,
    () =>
      `ok  \tgithub.com/${random.pick(words)}/${random.pick(words)}/${random.pick(words)}\t${random.below(90) / 10}s`,
    () =>
      `src/${random.pick(words)}/${random.pick(words)}.ts:${random.below(2_000)}:  const ${random.pick(words)} = ${random.pick(words)}.${random.pick(words)}(${random.pick(words)})`,
  ]
  return random.pick(forms)()
}

function terminalLine(random: Random): string {
  const byte = () => random.below(256)
  const color = () =>
    `\u001b[${random.pick(['0', '1', '31', '36', '90', `38;5;${byte()}`, `38;2;${byte()};${byte()};${byte()}`])}m`
  const width = 10 + random.below(60)
  const forms: readonly (() => string)[] = [
    () => `${color()}${random.pick(['✓', '✗', '❯', '●', '⚠', '⛁', '○'])} ${color()}${sentence(random)}${color()}`,
    () => `╭${'─'.repeat(width)}╮`,
    () =>
      `│ ${sentence(random)
        .slice(0, width - 2)
        .padEnd(width - 2)} │`,
    () => `└${'─'.repeat(width)}┘`,
    () => `${'█'.repeat(random.below(30))}${'░'.repeat(random.below(30))} ${random.below(100)}%`,
    () =>
      `  ${color()}${random.pick(words)}/${random.pick(words)}.ts${color()}:${random.below(999)}:${random.below(99)} - error TS${random.below(9999)}`,
  ]
  return random.pick(forms)()
}

function han(random: Random): string {
  return repeat(100 + random.below(400), () => String.fromCharCode(0x4e00 + random.below(20_900)))
}

const makers: Readonly<Record<string, Maker>> = {
  base64: (random) => bytes(random).toString('base64'),
  'base64-text': (random) =>
    Buffer.from(repeat(30, () => ' '.repeat(random.below(12)) + sentence(random), '\n')).toString('base64'),
  'hex-uuid': (random) =>
    repeat(20, () => random.pick([uuid(random), hex(random, 40), hex(random, 64)]), random.pick(['\n', ' ', ', '])),
  numbers: (random) =>
    repeat(
      60,
      () =>
        repeat(
          5,
          () => random.pick([String(random.below(100_000)), (random.next() * 1_000).toFixed(random.below(5))]),
          ',',
        ),
      '\n',
    ),
  logs: (random) => repeat(5 + random.below(40), () => logLine(random), '\n'),
  whitespace: (random) =>
    repeat(
      40,
      () =>
        random.pick([' ', '  ', '\t', '    ']).repeat(random.below(8)) +
        repeat(random.below(4), () => random.pick(words), random.pick([' ', '   ', '      '])),
      random.pick(['\n', '\n\n', '  \n']),
    ),
  emoji: (random) =>
    repeat(60, () => random.pick([random.pick(emoji), random.pick(emoji), random.pick(words)]), random.pick(['', ' '])),
  tables: (random) =>
    repeat(
      30,
      () => `| ${repeat(4, () => random.pick(words).padEnd(12), ' | ')} |`,
      `\n|${repeat(4, () => '-'.repeat(14), '|')}|\n`,
    ),
  'mark-runs': (random) =>
    repeat(12, () => random.pick(marks).repeat(4 + random.below(120)), random.pick(['\n', ' ', '\n\n'])),
  'letter-runs': (random) => repeat(400 + random.below(2_000), () => String.fromCharCode(97 + random.below(26))),
  'rare-han': han,
  terminal: (random) => repeat(6 + random.below(20), () => terminalLine(random), '\n'),
}

/** Train and test are made from different seeds: the same kind of text, never the same text. */
export function synthetic(split: Split): readonly Sample[] {
  const seed = split === 'train' ? 1_000 : 2_000_000
  return Object.entries(makers).flatMap(([category, make], kind) =>
    Array.from({ length: 60 }, (_, index) => ({
      category,
      source: `made by seed (${split})`,
      text: make(randomFrom(seed + kind * 1_000 + index)),
    })),
  )
}
