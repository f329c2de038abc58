// What a person asks of an agent that works by sight: a change to one function, in words that are said once. The person's
// side writes them and holds the files against them; the agent's side finds them again, in whatever the request still says.
import type { Message } from 'everlong'
import type { Place } from './moves.ts'
import { partInSight, textsIn } from './sight.ts'

export type Wish = {
  /** Counts from 1. */
  readonly task: number
  /** Relative to the repository's root. */
  readonly path: string
  readonly symbol: string
  readonly over: number
  /** Given with the first wish for a file. Later ones name the task that gave it. */
  readonly reason: string | { readonly task: number }
}

/** Stated once, and valid for every later task. */
export function ruleText(sign: string): string {
  return `For every task of today: sign each line you change with ${sign}.`
}

export function wishText({ task, symbol, path, over, reason }: Wish): string {
  const why = typeof reason === 'string' ? reason : `that of task ${reason.task}`
  return `Task ${task}: let ${symbol} in ${path} keep versions over ${over}; the reason to note is ${why}.`
}

/** The ending of a line that was changed as wished. */
export function grantedEnding(wish: Pick<Wish, 'over'>, codes: { readonly reason?: string; readonly sign?: string }) {
  const noted = [codes.reason, codes.sign].filter((code) => code !== undefined)
  return `.version > ${wish.over})${noted.length > 0 ? ` // ${noted.join(' ')}` : ''}`
}

/** The newest wish in the messages, and its change. */
export function wishedPlace(messages: readonly Message[]): Place | undefined {
  const texts = textsIn(messages)
  const wishes = texts.flatMap(wishesIn)
  const wish = wishes.toSorted((a, b) => a.task - b.task).at(-1)
  if (!wish) return undefined
  const { path, symbol } = wish
  const place = { path, symbol, testPath: path.replace(/\.ts$/, '.test.ts') }
  const part = partInSight(texts, symbol)
  if (!part) return { ...place, wrong: undefined, right: '' }
  const reason = reasonOf(wish, wishes)
  const sign = texts.flatMap((text) => ruleWords.exec(text)?.[1] ?? []).at(-1)
  const ending = grantedEnding(wish, { ...(reason ? { reason } : {}), ...(sign ? { sign } : {}) })
  const right = `${part.signature}\n${part.line.replace(/\.version > \d+\).*$/, ending)}`
  return { ...place, wrong: `${part.signature}\n${part.line}`, right }
}

function reasonOf({ reason }: Wish, known: readonly Wish[]): string | undefined {
  if (typeof reason === 'string') return reason
  const told = known.find(({ task }) => task === reason.task)?.reason
  return typeof told === 'string' ? told : undefined
}

const ruleWords = /For every task of today: sign each line you change with ([A-Z]+-\d+)\./
const wishWords =
  /Task (\d+): let (\w+) in (\S+) keep versions over (\d+); the reason to note is (?:([A-Z]+-\d+)|that of task (\d+))\./g

export function wishesIn(text: string): readonly Wish[] {
  if (!text.includes('keep versions over')) return []
  return [...text.matchAll(wishWords)].map(([, task, symbol = '', path = '', over, code, of]) => ({
    task: Number(task),
    path,
    symbol,
    over: Number(over),
    reason: code ?? { task: Number(of) },
  }))
}
