// `npm run bench -- summary`: the targets met and missed, read from the checked-in results.
import { writeSummary } from './summary.ts'

export function run(): void {
  writeSummary()
}
