// Waits for a while, or until a signal is aborted.
import type { AbortSignalPort } from '../../core/ports/model.ts'

export function wait(milliseconds: number, signal?: AbortSignalPort): Promise<void> {
  if (signal?.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    signal?.addEventListener('abort', end, { once: true })
  })
}
