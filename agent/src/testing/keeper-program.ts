// A program that has started a sandbox and waits, for tests that end it.
import { startKeeper } from '../sandbox/keeper-process.ts'

const environment = { PATH: process.env.PATH ?? '', TMPDIR: process.env.TMPDIR ?? '' }
const { ready } = startKeeper({ environment, onConnect: async () => false })
console.log((await ready) ?? 'ready')
setInterval(() => undefined, 1_000)
