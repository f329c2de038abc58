import { readUsage } from 'everlong/internal/wire'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { deltaUsageBody, iterationBody, noSampling, promptTokens, usageBody } from './usage.ts'

const count = fc.nat(100_000)
const samplings = fc
  .record({ read: count, write5m: count, write1h: count, input: count, output: count })
  .map((counts) => ({ ...noSampling, ...counts }))

test('whatever was read and written is in the size of the prompt and in every usage, once', () => {
  fc.assert(
    fc.property(samplings, (sampling) => {
      const { input, read, write5m, write1h, output } = sampling
      const all = { input, output, cacheRead: read, cacheWrite: write5m + write1h }
      expect(promptTokens(sampling)).toBe(all.input + all.cacheRead + all.cacheWrite)
      expect(readUsage(usageBody(sampling, undefined))).toEqual({ ...all, cacheWriteHour: write1h })
      expect(readUsage(iterationBody(sampling, 'm'))).toEqual({ ...all, cacheWriteHour: write1h })
      // The end of a stream does not name the lifetimes.
      expect(readUsage(deltaUsageBody(sampling, undefined))).toEqual({ ...all, cacheWriteHour: 0 })
      const iterations = [iterationBody(sampling, 'm')]
      expect(readUsage(usageBody(sampling, iterations))?.iterations).toEqual([
        { ...all, cacheWriteHour: write1h, type: 'message' },
      ])
    }),
  )
})
