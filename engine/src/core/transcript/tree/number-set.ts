// Small numbers that are in a set or not. A set of V8's takes what is in it; one byte for each number there could be is
// several times as fast, where most of them will be.

export type NumberSet = {
  readonly has: (number: number) => boolean
  readonly add: (number: number) => unknown
  /** Whether it was there. */
  readonly delete: (number: number) => boolean
}

/** Of numbers from 0 on, and below this. */
export class DenseSet implements NumberSet {
  private readonly marks: Uint8Array

  constructor(size: number) {
    this.marks = new Uint8Array(size)
  }

  has(number: number): boolean {
    return this.marks[number] === 1
  }

  add(number: number): void {
    this.marks[number] = 1
  }

  delete(number: number): boolean {
    const was = this.has(number)
    this.marks[number] = 0
    return was
  }
}
