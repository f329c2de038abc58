import { Console } from 'node:console'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { captureStreams } from './capture.ts'

function stage() {
  const shown: string[] = []
  const [stdout, stderr] = [new PassThrough(), new PassThrough()].map((stream) =>
    stream.on('data', (chunk) => shown.push(String(chunk))),
  ) as [PassThrough, PassThrough]
  const heard: string[] = []
  const capture = captureStreams({ stdout, stderr }, (text) => heard.push(text))
  return { ...{ stdout, stderr, shown, heard }, ...capture, console: new Console(stdout, stderr) }
}

test('what others write is heard and not shown; what the screen writes is shown', async () => {
  const { console, stdout, screen, shown, heard } = stage()
  console.log('log')
  console.warn('warn')
  const isDone = new Promise<void>((resolve) => stdout.write(Buffer.from('bytes'), 'utf8', () => resolve()))
  screen.write('frame')
  await isDone
  expect({ heard, shown }).toEqual({ heard: ['log\n', 'warn\n', 'bytes'], shown: ['frame'] })
})

test('afterwards the streams are as they were, and the screen keeps its events', () => {
  const { console, stdout, screen, shown, heard, release } = stage()
  let resized = 0
  const onResize = () => resized++
  screen.on('resize', onResize)
  stdout.emit('resize')
  screen.removeListener('resize', onResize)
  stdout.emit('resize')
  release()
  console.warn('late')
  expect({ heard, shown, resized }).toEqual({ heard: [], shown: ['late\n'], resized: 1 })
})
