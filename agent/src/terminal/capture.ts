// Captures everything that this process prints while the screen is drawn: output of libraries and of Node itself on the standard
// streams.
import type { TerminalOutput } from './options.ts'

export type Capture = {
  /** The terminal for the screen itself, which is not captured. */
  readonly screen: TerminalOutput
  readonly release: () => void
}

/** Captures nothing if `stdout` is not the output of this process. */
export function captureProcess(stdout: TerminalOutput, heard: (text: string) => void): Capture {
  if (stdout !== process.stdout) return { screen: stdout, release: () => undefined }
  return captureStreams({ stdout, stderr: process.stderr }, heard)
}

type Streams = { readonly stdout: TerminalOutput; readonly stderr: NodeJS.WritableStream }

export function captureStreams({ stdout, stderr }: Streams, heard: (text: string) => void): Capture {
  const streams = [stdout, stderr]
  const originals = streams.map((stream) => stream.write)
  const [write] = originals
  for (const stream of streams) stream.write = swallow(heard) as typeof stream.write
  return {
    screen: withWrite(stdout, write as TerminalOutput['write']),
    release: () => {
      for (const [at, stream] of streams.entries()) stream.write = originals[at] as typeof stream.write
    },
  }
}

/** The same stream, with another `write`. */
export function withWrite(stdout: TerminalOutput, write: (...words: never) => boolean): TerminalOutput {
  return new Proxy(stdout, {
    get: (target, key) => {
      const value: unknown = key === 'write' ? write : Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

type Written = (error?: Error | null) => void

function swallow(heard: (text: string) => void) {
  return (chunk: string | Uint8Array, encoding?: BufferEncoding | Written, written?: Written): boolean => {
    heard(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8'))
    const done = typeof encoding === 'function' ? encoding : written
    if (done) process.nextTick(done)
    return true
  }
}
