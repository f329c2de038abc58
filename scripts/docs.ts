// npm run docs [-- --base /v1.2.3/]: the documentation site, in dist/site.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildSite } from './site/build.ts'
import { root } from './steps.ts'

const { values } = parseArgs({ options: { base: { type: 'string', default: '/' } } })
if (!/^\/(.*\/)?$/.test(values.base))
  throw new Error(`--base ${values.base}: it begins and ends with a slash, as in /v1.2.3/`)
await buildSite({ outDir: join(root, 'dist/site'), base: values.base })
console.log('The site is in dist/site. Serve it with any static server.')
