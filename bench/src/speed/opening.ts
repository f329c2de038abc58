// Opening a session from disk: pi's own file by pi and by us, and a Claude Code file compared with what any reader must do.
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLive, readTranscript, scanFile } from 'everlong/internal/node'
import { generatePiSession, serialize } from 'everlong/internal/testing'
import { openArchive } from 'everlong/node'
import MiniSearch from 'minisearch'
import { loadPi } from '../peers/pi.ts'
import type { Contest, Work } from './contest.ts'
import { conversation, texts } from './conversations.ts'

/** Each measurement's own folder, gone when it ends. */
function withFile(lines: readonly string[], work: (path: string, folder: string) => Omit<Work, 'end'>): Work {
  const folder = mkdtempSync(join(tmpdir(), 'everlong-speed-'))
  const path = join(folder, 'session.jsonl')
  writeFileSync(path, lines.join(''))
  return { ...work(path, folder), end: () => rmSync(folder, { recursive: true, force: true }) }
}

/** pi's turns have about six messages. */
const piLines = (size: number) =>
  generatePiSession({ seed: 3, turns: Math.ceil(size / 6), compactions: 1 }).records.map(serialize)
const ownLines = (size: number) => conversation(size).entries.map(({ record }) => serialize(record))

export const openingPi: Contest = {
  name: "opening pi's file",
  what: "pi's own session file, compacted once in its middle: from the disk to the messages that are sent.",
  contestants: [
    {
      name: 'Everlong, readTranscript',
      side: 'ours',
      ready: (size) => withFile(piLines(size), (path) => ({ run: () => readTranscript(path).view.messages.length })),
    },
    {
      name: 'pi, SessionManager.open',
      side: 'peer',
      ready: async (size) => {
        const { SessionManager } = await loadPi()
        return withFile(piLines(size), (path) => ({
          run: () => SessionManager.open(path).buildSessionContext().messages.length,
        }))
      },
    },
    {
      name: 'the limit: JSON.parse of every line',
      side: 'limit',
      ready: (size) => withFile(piLines(size), (path) => ({ run: () => parsedLines(path) })),
    },
    {
      name: 'the limit: reading the bytes',
      side: 'limit',
      ready: (size) => withFile(piLines(size), (path) => ({ run: () => readBytes(path, () => undefined) })),
    },
  ],
}

export const openingOwn: Contest = {
  name: 'opening a Claude Code file',
  what: 'A session without a compaction, which is the worst case: all of it is live. No peer reads these files.',
  contestants: [
    {
      name: 'Everlong, openLive',
      side: 'ours',
      ready: (size) => withFile(ownLines(size), (path) => ({ run: () => openLive(path).entries.length })),
    },
    {
      name: 'Everlong, scanFile',
      side: 'ours',
      ready: (size) => withFile(ownLines(size), (path) => ({ run: () => scanFile(path).records })),
    },
    {
      name: 'the limit: JSON.parse of every line',
      side: 'limit',
      ready: (size) => withFile(ownLines(size), (path) => ({ run: () => parsedLines(path) })),
    },
    {
      name: 'the limit: reading the bytes',
      side: 'limit',
      ready: (size) => withFile(ownLines(size), (path) => ({ run: () => readBytes(path, () => undefined) })),
    },
  ],
}

/** The fastest plain way known: chunks, a search for newlines, JSON.parse. */
function parsedLines(path: string): number {
  let records = 0
  readBytes(path, (line) => {
    if (JSON.parse(line.toString('utf8')).type !== undefined) records++
  })
  return records
}

function readBytes(path: string, onLine: (line: Buffer) => void): number {
  const file = openSync(path, 'r')
  const buffer = Buffer.allocUnsafeSlow(4 << 20)
  let [carried, bytes] = [0, 0]
  for (;;) {
    const read = readSync(file, buffer, carried, buffer.length - carried, null)
    if (read === 0) break
    bytes += read
    const filled = carried + read
    let start = 0
    for (let end = buffer.indexOf(10); end >= 0 && end < filled; end = buffer.indexOf(10, start)) {
      onLine(buffer.subarray(start, end))
      start = end + 1
    }
    buffer.copyWithin(0, start, filled)
    carried = filled - start
  }
  closeSync(file)
  return bytes
}

const words = 'parcel'

export const searching: Contest = {
  name: 'searching',
  what: 'The ten best matches of one common word among everything that was said. The index stands already.',
  upTo: 10_000,
  contestants: [
    {
      name: 'Everlong, archive',
      side: 'ours',
      ready: (size) => {
        const folder = mkdtempSync(join(tmpdir(), 'everlong-speed-'))
        const path = join(folder, 'session.jsonl')
        writeFileSync(path, ownLines(size).join(''))
        const archive = openArchive(path, { folder })
        return {
          run: () => archive.search({ words, limit: 10 }).matches.length,
          end: () => {
            archive.close()
            rmSync(folder, { recursive: true, force: true })
          },
        }
      },
    },
    {
      name: 'MiniSearch, in memory',
      side: 'peer',
      ready: (size) => {
        const index = new MiniSearch({ fields: ['text'] })
        index.addAll(texts(size).map((text, id) => ({ id, text })))
        return { run: () => index.search(words).slice(0, 10).length }
      },
    },
    {
      name: 'String.includes over every text, unranked',
      side: 'peer',
      ready: (size) => {
        const all = texts(size)
        return { run: () => all.filter((text) => text.includes(words)).length }
      },
    },
  ],
}
