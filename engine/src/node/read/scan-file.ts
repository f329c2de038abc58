// A full scan of a transcript on disk: everything core/transcript/tree/scan.ts can tell, in bounded memory.
import { statSync } from 'node:fs'
import { createScanner, type Scan } from '../../core/transcript/tree/scan.ts'
import { forEachEntry, type ReadReport } from './entries.ts'
import { expectedEntries, type LineOptions } from './lines.ts'

export type FileScan = Scan & ReadReport & { readonly path: string }

export function scanFile(path: string, options: LineOptions = {}): FileScan {
  const scanner = createScanner({ expected: expectedEntries(statSync(path).size) })
  const report = forEachEntry(path, scanner.add, options)
  return { ...scanner.finish(), ...report, path }
}
