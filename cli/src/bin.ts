#!/usr/bin/env node
// The published command: reports a Node that is too old, before it loads anything that needs a newer one.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major > 22 || (major === 22 && minor >= 18)) {
  // Compiled code is stored, so that the next start is faster.
  const { enableCompileCache } = await import('node:module')
  enableCompileCache()
  await import('./main.ts')
} else {
  process.stderr.write(
    `everlong: this is Node ${process.versions.node}, and the everlong command needs 22.18 or later. ` +
      'Install a newer one from https://nodejs.org, or run: npx --package=node@24 --package=@everlong/cli everlong\n',
  )
  process.exitCode = 1
}
