import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

const module = new URL('./light-ink.ts', import.meta.url)

/** What a process that loads ink has afterwards. */
function loadedWith(before: string, after: string) {
  const script = `${before}
    await import('ink')
    ${after}
    const has = (name) => process.moduleLoadList.some((each) => each.endsWith(name))
    console.log(JSON.stringify({ httpClient: has('deps/undici/undici'), fetch: typeof fetch }))`
  const args = ['--input-type=module', '--eval', script]
  return JSON.parse(execFileSync(process.execPath, args, { cwd: import.meta.dirname, encoding: 'utf8' }))
}

test('ink loads without the HTTP client of Node, and fetch is there again afterwards', () => {
  const light = loadedWith(`import { lightenInk } from '${module}'; const undo = lightenInk()`, 'undo()')
  expect(light).toEqual({ httpClient: false, fetch: 'function' })
  // Without it, ink loads the client. Otherwise this file is no longer needed.
  expect(loadedWith('', '')).toEqual({ httpClient: true, fetch: 'function' })
})
