// What the person of a session asks for: one change a task, to files that are new or were worked on before, as often and as
// long ago as in real sessions; and in a fifth of the tasks something about an earlier one. A rule is said once, with the first
// task; a reason with each task that takes up a file anew, and whoever comes back to it means that one.
import {
  grantedEnding,
  type Question,
  questionText,
  type Repository,
  ruleText,
  tookIn,
  type Wish,
  wishText,
} from '@everlong/simulator'
import { type Random, randomFrom } from '../random.ts'
import { returnDistance, shareOfQuestions, shareOfReturns } from './returns.ts'

export class Person {
  private readonly random: Random
  /** Separate, so that the changes are the same with and without questions. */
  private readonly curiosity: Random
  private readonly files: readonly string[]
  private readonly repository: Repository
  private readonly sign: string
  private readonly wishes: Wish[] = []
  private readonly questions: Question[] = []
  /** By task: the written line, and the duration of the tests of its file. */
  private readonly written = new Map<number, string>()
  private readonly took = new Map<number, string>()
  private opened = 0

  constructor(repository: Repository, seed: number) {
    this.random = randomFrom(seed + 1_000)
    this.curiosity = randomFrom(seed + 3_000)
    this.repository = repository
    const sources = [...repository.files.keys()].filter((path) => symbolsIn(repository, path).length > 0)
    this.files = sources
      .map((path) => ({ path, at: this.random.next() }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ path }) => path)
    this.sign = this.code()
  }

  /** Returns the next task as text. */
  asks(): string {
    const question = this.question()
    if (question) {
      this.questions.push(question)
      return questionText(question)
    }
    const wish = this.next()
    this.wishes.push(wish)
    return wish.task === 1 ? `${ruleText(this.sign)} ${wishText(wish)}` : wishText(wish)
  }

  /** Call it with the output of a test run of the task's own file. */
  sees(output: string): void {
    const [took] = tookIn(output)
    if (took !== undefined) this.took.set(this.task, took)
  }

  /** Whether the newest task was done as asked, rule and reason included, or the question answered. */
  isContentWith(files: ReadonlyMap<string, string>, answer = ''): boolean {
    const question = this.isAsking ? this.questions.at(-1) : undefined
    if (question) {
      const truth = (question.what === 'line' ? this.written : this.took).get(question.about)
      return truth !== undefined && answer.includes(truth)
    }
    const wish = this.wishes.at(-1)
    if (!wish) return false
    const { reason } = wish
    const told = typeof reason === 'string' ? wish : this.wishes.find(({ task }) => task === reason.task)
    const ending = grantedEnding(wish, {
      sign: this.sign,
      ...(typeof told?.reason === 'string' ? { reason: told.reason } : {}),
    })
    const body = files.get(wish.path)?.split(`export function ${wish.symbol}(`)[1]?.split('\n')[1]
    if (body !== undefined) this.written.set(wish.task, body.trim())
    return body?.endsWith(ending) ?? false
  }

  /** The number of the newest task. */
  private get task(): number {
    return this.wishes.length + this.questions.length
  }

  get isAsking(): boolean {
    return this.questions.at(-1)?.task === this.task && this.task > 0
  }

  /** The file of the newest task. */
  get subject(): string {
    return this.isAsking ? '' : (this.wishes.at(-1)?.path ?? '')
  }

  /** About a task as long ago as those that work comes back to. */
  private question(): Question | undefined {
    const isCurious = this.curiosity.next() < shareOfQuestions
    const distance = returnDistance(this.curiosity.next())
    const what = this.curiosity.next() < 0.5 ? 'line' : 'run'
    const about = this.wishes[Math.max(0, this.wishes.length - distance)]
    return isCurious && about ? { task: this.task + 1, about: about.task, what } : undefined
  }

  private next(): Wish {
    const task = this.task + 1
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
