// `npm run format`: lets Biome write the tree the way `npm run check` wants it.
import { join } from 'node:path'
import { root, runStep } from './steps.ts'

const script = join(root, 'node_modules/@biomejs/biome/bin/biome')
process.exitCode = (await runStep({ name: 'format', script, args: ['check', '--write'] }, { show: true })) ? 0 : 1
