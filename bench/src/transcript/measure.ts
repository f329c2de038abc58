// One measurement in a process of its own, so that its peak memory is its own: `measure.ts METHOD FILE WARM-UP-FILE`.
// Prints one line of JSON.
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { openIndex, openLive, scanFile } from 'everlong/internal/node'

export type Measured = {
  readonly milliseconds: number
  readonly peakMegabytes: number
  /** What was found, to be held against what the maker of the file knows. */
  readonly found: readonly number[]
}

/** The fastest plain way known: 4 MB chunks, a search for newlines, JSON.parse. It keeps nothing and repairs nothing. */
function plainLoop(path: string): readonly number[] {
  const file = openSync(path, 'r')
  const buffer = Buffer.allocUnsafeSlow(4 << 20)
  let carried = 0
  let records = 0
  for (;;) {
    const read = readSync(file, buffer, carried, buffer.length - carried, null)
    if (read === 0) break
    const filled = carried + read
    let start = 0
    for (let end = buffer.indexOf(10); end >= 0 && end < filled; end = buffer.indexOf(10, start)) {
      if (JSON.parse(buffer.toString('utf8', start, end)).type !== undefined) records++
      start = end + 1
    }
    buffer.copyWithin(0, start, filled)
    carried = filled - start
  }
  closeSync(file)
  return [records]
}

function indexScan(path: string): readonly number[] {
  const index = openIndex(path, { folder: false })
  return [index.rows, index.boundaries.length]
}

const methods: Readonly<Record<string, (path: string) => readonly number[]>> = {
  plain: plainLoop,
  scan: (path) => {
    const scan = scanFile(path)
    return [scan.records, scan.boundaries.length, scan.answers.length, scan.graph.orphans.length]
  },
  index: indexScan,
  // What the first index in a fresh process costs, compiler included.
  'index-cold': indexScan,
  open: (path) => {
    const live = openLive(path)
    return [live.entries.length, live.bytesRead]
  },
  nothing: (path) => [statSync(path).size],
}

const [method = '', path = '', warmUp = ''] = process.argv.slice(2)
const measured = methods[method]
if (!measured) throw new Error(`There is no method ${method}.`)
if (method !== 'index-cold') measured(warmUp)
const began = performance.now()
const found = measured(path)
const milliseconds = performance.now() - began
const peakMegabytes = process.resourceUsage().maxRSS / 1024
console.log(JSON.stringify({ milliseconds, peakMegabytes, found } satisfies Measured))
