#!/usr/bin/env node
// `npx everlong`. The command is in @everlong/cli, so that the library has no dependencies. Runs the one installed nearby, or
// lets npm fetch it.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const here = createRequire(import.meta.url)
const npm = process.env.npm_execpath ?? ''
const command = installedCommand()
if (command !== undefined) await import(pathToFileURL(command).href)
else if (/npm-cli\.[cm]?js$/.test(npm)) runWithNpm()
else {
  process.stderr.write('everlong: the command is in another package. Run: npx @everlong/cli\n')
  process.exitCode = 1
}

/** In the project of the working folder, or next to this package. */
function installedCommand(): string | undefined {
  for (const require of [createRequire(join(process.cwd(), 'package.json')), here]) {
    try {
      const manifest = require.resolve('@everlong/cli/package.json')
      return join(manifest, '..', require(manifest).bin.everlong)
    } catch {
      // It is not installed there.
    }
  }
  return undefined
}

/** npm asks before it installs. */
function runWithNpm(): void {
  const { version } = here('everlong/package.json')
  const args = [npm, 'exec', '--', `@everlong/cli@${version}`, ...process.argv.slice(2)]
  const child = spawn(process.execPath, args, { stdio: 'inherit' })
  // The terminal also sends it to the child, which decides what to do.
  process.on('SIGINT', () => undefined)
  process.on('SIGTERM', () => child.kill())
  child.on('exit', (code) => process.exit(code ?? 1))
}
