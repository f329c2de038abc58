// What the person of a session asks for: one change a task, to files that are new or were worked on before, as often and as
// long ago as in real sessions. A rule is said once, with the first task; a reason with each task that takes up a file anew, and
// whoever comes back to it means that one.
import { grantedEnding, type Repository, ruleText, type Wish, wishText } from '@everlong/simulator'
import { type Random, randomFrom } from '../random.ts'
import { returnDistance, shareOfReturns } from './returns.ts'

export class Person {
  private readonly random: Random
  private readonly files: readonly string[]
  private readonly repository: Repository
  private readonly sign: string
  private readonly wishes: Wish[] = []
  private opened = 0

  constructor(repository: Repository, seed: number) {
    this.random = randomFrom(seed + 1_000)
    this.repository = repository
    const sources = [...repository.files.keys()].filter((path) => symbolsIn(repository, path).length > 0)
    this.files = sources
      .map((path) => ({ path, at: this.random.next() }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ path }) => path)
    this.sign = this.code()
  }

  /** The next task, in words. */
  asks(): string {
    const wish = this.next()
    this.wishes.push(wish)
    return wish.task === 1 ? `${ruleText(this.sign)} ${wishText(wish)}` : wishText(wish)
  }

  /** Whether the newest task was done as asked, rule and reason included. */
  isContentWith(files: ReadonlyMap<string, string>): boolean {
    const wish = this.wishes.at(-1)
    if (!wish) return false
    const told = typeof wish.reason === 'string' ? wish : this.wishes[wish.reason.task - 1]
    const ending = grantedEnding(wish, {
      sign: this.sign,
      ...(typeof told?.reason === 'string' ? { reason: told.reason } : {}),
    })
    const body = files.get(wish.path)?.split(`export function ${wish.symbol}(`)[1]?.split('\n')[1]
    return body?.endsWith(ending) ?? false
  }

  /** The file of the newest task. */
  get subject(): string {
    return this.wishes.at(-1)?.path ?? ''
  }

  private next(): Wish {
    const task = this.wishes.length + 1
    const comesBack = this.random.next() < shareOfReturns
    const distance = returnDistance(this.random.next())
    const earlier = comesBack ? this.wishes[Math.max(0, this.wishes.length - distance)] : undefined
    const path = earlier?.path ?? this.files[this.opened++ % this.files.length] ?? ''
    return {
      task,
      path,
      symbol: this.random.pick(symbolsIn(this.repository, path)),
      over: 100 + task,
      reason: earlier ? { task: typeof earlier.reason === 'string' ? earlier.task : earlier.reason.task } : this.code(),
    }
  }

  private code(): string {
    const letter = () => String.fromCharCode(65 + this.random.below(26))
    return `${letter()}${letter()}-${100 + this.random.below(900)}`
  }
}

/** The functions of a file that a wish can be about. */
function symbolsIn({ files }: Repository, path: string): readonly string[] {
  return [...(files.get(path) ?? '').matchAll(/export function (\w+)\(.*\n {2}const kept = /g)].map(
    (found) => found[1] ?? '',
  )
}
