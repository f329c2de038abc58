// `npm run release -- patch|minor|major|x.y.z [--dry-run]`: a new version in all packages and the changelog, committed and
// tagged. It prints how to publish.
import { release } from './release/release.ts'
import { root } from './steps.ts'

process.exitCode = release(process.argv.slice(2), { root, today: new Date(), say: console.log })
