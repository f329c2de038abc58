// `npm run build`: the library as people install it, in engine/dist.
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { buildLibrary } from './package/build.ts'
import { root } from './steps.ts'

const dist = join(root, 'engine', 'dist')
await buildLibrary(dist)
console.log(`${globSync('**/*', { cwd: dist }).length} files in engine/dist`)
