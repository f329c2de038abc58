// What the process holds after a collection, in megabytes.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

export function heapInUse(): number {
  collect()
  return process.memoryUsage().heapUsed / 1e6
}
