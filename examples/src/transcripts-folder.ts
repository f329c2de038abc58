// A folder of transcripts (Claude Code, Codex, pi): how large each context is and how often it was compacted, and a search
// through everything that was ever said. Give it a folder; the default is Claude Code's.
import { globSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { offline } from 'everlong'
import { createEngine, openArchive } from 'everlong/node'

const [folder = join(homedir(), '.claude/projects'), words = 'migration'] = process.argv.slice(2)
const engine = createEngine({ model: offline() })
for (const file of globSync('**/*.jsonl', { cwd: folder })) {
  const session = await engine.read(join(folder, file)) // writes nothing
  const compactions = [...(await session.entries())].filter(({ record }) => record.subtype === 'compact_boundary')
  console.log(`${file}: ${session.explain().size.tokens} tokens, ${compactions.length} compactions`)
  await session.close()
}

const archive = openArchive(folder) // its index is in the cache folder of this machine
const { matches } = archive.search({ words, kinds: ['human'], limit: 5 })
for (const { file, epoch, snippet } of matches) console.log(`${file}, after ${epoch} compactions: ${snippet}`)
archive.close()
