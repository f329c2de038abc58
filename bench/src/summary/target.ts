// What a benchmark wanted and what it found, in the one shape that the summary reads.

export type Target = {
  readonly what: string
  readonly wanted: string
  readonly measured: string
  readonly met: boolean
}
