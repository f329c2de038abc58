// The other thread of index-two.ts: indexes its stretch of the file, hands it over, and says that it is done.
import { type MessagePort, workerData } from 'node:worker_threads'
import { encodeIndexed } from './index-bytes.ts'
import { scanIndex } from './index-scan.ts'
import type { IndexJob } from './index-two.ts'

const { path, from, to, done, port } = workerData as IndexJob & { readonly port: MessagePort }
try {
  const { buffer, byteOffset, byteLength } = encodeIndexed(scanIndex(path, { format: 'claude-code', from, to }))
  port.postMessage(new Uint8Array(buffer.slice(byteOffset, byteOffset + byteLength)))
} catch (error) {
  // The first thread then does it itself, and meets the same error where somebody can see it.
  port.postMessage(String(error))
} finally {
  Atomics.store(done, 0, 1)
  Atomics.notify(done, 0)
}
