import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { startProcess } from './process.ts'

test.skipIf(process.platform !== 'linux')(
  'a program ends with everything below it, also outside of its group',
  async () => {
    const mark = `5${process.pid}${Date.now() % 1_000}`
    const isRunning = () =>
      execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).split('\n').includes(`sleep ${mark}`)
    let text = ''
    const onText = (piece: string) => {
      text += piece
    }
    const options = { cwd: '/', env: { PATH: process.env.PATH ?? '' }, onText }
    // While a sandbox is set up, its processes are not in the group and do not yet end with it.
    const started = startProcess(['bash', '-c', `setsid sleep ${mark} & echo on; wait`], options)
    await expect.poll(() => text === 'on\n' && isRunning()).toBe(true)
    expect(await started.stop()).toMatchObject({ code: 137 })
    expect(isRunning()).toBe(false)
  },
)
