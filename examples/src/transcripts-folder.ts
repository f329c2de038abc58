// A folder of transcripts (Claude Code, Codex, pi): how often each session was compacted, what all of them used, and a search
// through everything that was ever said. Give it a folder; the default is Claude Code's.
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { cardLine, collectingStatistics, findTranscripts, scanFile } from 'everlong/internal/node'
import { openArchive } from 'everlong/node'

const [folder = join(homedir(), '.claude/projects'), words = 'migration'] = process.argv.slice(2)
for (const path of findTranscripts([folder]).files) {
  const { epochs } = scanFile(path)
  const turns = epochs.reduce((sum, { humanTurns }) => sum + humanTurns, 0)
  console.log(`${basename(path)}: ${turns} turns, ${epochs.length - 1} compactions`)
}

// A generator, so that a program can stay responsive: it yields after every file.
const collecting = collectingStatistics([folder])
let step = collecting.next()
while (!step.done) step = collecting.next()
for (const { model, answers, tokens } of step.value.models) {
  console.log(`${model}: ${answers} answers, ${tokens.output} tokens written`)
}

const archive = openArchive(folder) // its index is in the cache folder of this machine
const { matches } = archive.search({ words, kinds: ['human'], limit: 5 })
for (const match of matches) console.log(cardLine(match))
archive.close()
