// What ties the rows of a transcript together besides their parents: pieces of one answer share its id, a result names
// its call. Ids are looked up once, when a row comes; from then on answers and calls are numbers.
import type { Head } from '../format/entry.ts'
import type { NumberSet } from './number-set.ts'

const none: readonly number[] = []

/** For one that no row has named. */
export const unnamed = -1

export class AnswerNumbers {
  /** The calls that a row makes, and those that it brings results of. */
  readonly calls = new Runs()
  readonly results = new Runs()
  private readonly answers: number[] = []
  private readonly answerIds = new Numbers()
  private readonly callIds = new Numbers()

  /** Of the next row. */
  add({ messageId, toolUses, toolResults }: Head): void {
    this.answers.push(messageId === undefined ? unnamed : this.answerIds.take(messageId))
    for (let at = 0; at < toolUses.length; at++) this.calls.push(this.callIds.take(toolUses[at] ?? ''))
    for (let at = 0; at < toolResults.length; at++) this.results.push(this.callIds.take(toolResults[at] ?? ''))
    this.calls.close()
    this.results.close()
  }

  /** The answer that a row is a piece of. */
  answerAt(row: number): number {
    return this.answers[row] ?? unnamed
  }

  /** How many there are. */
  counts(): { readonly answers: number; readonly calls: number } {
    return { answers: this.answerIds.count(), calls: this.callIds.count() }
  }

  callOf(toolUseId: string): number {
    return this.callIds.take(toolUseId)
  }
}

/** Numbers for ids, in the order in which they are first taken. */
class Numbers {
  private readonly known = new Map<string, number>()
  private last = { id: '', number: unnamed }

  take(id: string): number {
    // The pieces of an answer come one after the other.
    if (id === this.last.id && this.last.number >= 0) return this.last.number
    let number = this.known.get(id)
    if (number === undefined) {
      number = this.known.size
      this.known.set(id, number)
    }
    this.last.id = id
    this.last.number = number
    return number
  }

  count(): number {
    return this.known.size
  }
}

/** Some numbers for each row, all of them in one list: most rows have none or one. */
class Runs {
  private readonly numbers: number[] = []
  private readonly ends: number[] = []

  push(number: number): void {
    this.numbers.push(number)
  }

  /** What was pushed since the last time belongs to the next row. */
  close(): void {
    this.ends.push(this.numbers.length)
  }

  hasAny(row: number): boolean {
    return this.start(row) < this.start(row + 1)
  }

  of(row: number): readonly number[] {
    return this.hasAny(row) ? this.numbers.slice(this.start(row), this.start(row + 1)) : none
  }

  addTo(set: NumberSet, row: number): void {
    for (let at = this.start(row); at < this.start(row + 1); at++) set.add(this.at(at))
  }

  /** Whether any of them was in it. */
  takeFrom(set: NumberSet, row: number): boolean {
    let isTaken = false
    for (let at = this.start(row); at < this.start(row + 1); at++) if (set.delete(this.at(at))) isTaken = true
    return isTaken
  }

  isAnyIn(set: NumberSet, row: number): boolean {
    for (let at = this.start(row); at < this.start(row + 1); at++) if (set.has(this.at(at))) return true
    return false
  }

  /** What the first of them that is there stands for. */
  firstIn(map: ReadonlyMap<number, number>, row: number): number {
    for (let at = this.start(row); at < this.start(row + 1); at++) {
      const found = map.get(this.at(at))
      if (found !== undefined) return found
    }
    return unnamed
  }

  private start(row: number): number {
    return row === 0 ? 0 : (this.ends[row - 1] ?? this.numbers.length)
  }

  private at(index: number): number {
    return this.numbers[index] ?? unnamed
  }
}
