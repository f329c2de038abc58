// `npm run build:playground [-- FOLDER]`: the playground for any static host, in viewer/dist/playground or in the folder given.
import { join, resolve } from 'node:path'
import { buildPlayground } from './build.ts'

const [folder = join(import.meta.dirname, 'dist/playground')] = process.argv.slice(2)
await buildPlayground(resolve(folder))
console.log(resolve(folder))
