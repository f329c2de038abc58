// What a program holds after a collection, in bytes: its objects and the arrays beside them. The code that V8 compiles as
// a program warms up comes and goes by rules of its own, and is left out.
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')
const ofCode = /code|trusted|read_only/

export function bytesInUse(): number {
  collect()
  const spaces = getHeapSpaceStatistics().filter(({ space_name }) => !ofCode.test(space_name))
  return spaces.reduce((sum, { space_used_size }) => sum + space_used_size, process.memoryUsage().arrayBuffers)
}
