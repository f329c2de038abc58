// `npm run bench -- locomo`: whether one search with a question's own words finds where the answer was said. It needs the
// LoCoMo dialogues (`locomo/*.json` in the data folder), which are not ours to ship: the results hold figures only.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { session } from 'everlong/internal/testing'
import { type Archive, openArchive } from 'everlong/node'
import { defineBenchmark, type Page, table } from '../benchmark.ts'
import { dataFolder } from '../root.ts'

type Turn = {
  readonly speaker: string
  readonly dia_id: string
  readonly text: string
  readonly blip_caption?: string
}
type Question = { readonly question: string; readonly evidence?: readonly string[] }
type Dialogue = {
  readonly conversation: Readonly<Record<string, string | readonly Turn[]>>
  readonly qa: readonly Question[]
}

type Outcome = { readonly sessionRank: number; readonly hasTurn: boolean }

export const benchmark = defineBenchmark({ name: 'locomo', run, page })

function run(): LocomoFigures | undefined {
  const data = dataFolder('locomo')
  const files = data === undefined ? [] : readdirSync(data).filter((name) => name.endsWith('.json'))
  if (data === undefined || files.length === 0) {
    console.error('No dialogues: this benchmark needs LoCoMo as locomo/*.json in the data folder (EVERLONG_DATA).')
    return undefined
  }
  const dialogues = files.flatMap((name) => JSON.parse(readFileSync(join(data, name), 'utf8')) as Dialogue[])
  return figuresOf(dialogues.length, dialogues.flatMap(outcomesOf))
}

/** Each session of a dialogue is a transcript, each turn a message; the question is the query, word for word. */
function outcomesOf(dialogue: Dialogue): readonly Outcome[] {
  const folder = mkdtempSync(join(tmpdir(), 'everlong-bench-'))
  try {
    writeDialogue(folder, dialogue)
    const archive = openArchive(folder, { folder: false })
    const outcomes = dialogue.qa.flatMap((question) => outcomeOf(archive, question) ?? [])
    archive.close()
    return outcomes
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function writeDialogue(folder: string, { conversation }: Dialogue): void {
  mkdirSync(folder, { recursive: true })
  for (let number = 1; ; number++) {
    const turns = conversation[`session_${number}`]
    if (!Array.isArray(turns)) return
    const ids = (turns as readonly Turn[]).map((turn) => turn.dia_id)
    const builder = session({ sessionId: `s${number}`, ids: () => ids.shift() ?? '' })
    for (const [at, turn] of (turns as readonly Turn[]).entries()) {
      const picture = turn.blip_caption === undefined ? '' : ` [shared: ${turn.blip_caption}]`
      const date = at === 0 ? `${String(conversation[`session_${number}_date_time`])}\n` : ''
      builder.user(`${date}${turn.speaker}: ${turn.text}${picture}`)
    }
    writeFileSync(join(folder, `session-${number}.jsonl`), builder.text)
  }
}

function outcomeOf(archive: Archive, { question, evidence = [] }: Question): Outcome | undefined {
  const turns = new Set(evidence.flatMap((text) => text.match(/D\d+:\d+/g) ?? []))
  if (turns.size === 0) return undefined
  const { matches } = archive.search({ words: question })
  const sessionOf = (turn: string) => turn.split(':')[0] ?? ''
  const wanted = new Set([...turns].map(sessionOf))
  const sessions = [...new Set(matches.map(({ uuid = '' }) => sessionOf(uuid)))]
  return {
    sessionRank: sessions.findIndex((name) => wanted.has(name)) + 1,
    hasTurn: matches.some(({ uuid = '' }) => turns.has(uuid)),
  }
}

export type LocomoFigures = {
  readonly dialogues: number
  readonly questions: number
  readonly hitAt1: number
  readonly hitAt5: number
  readonly meanReciprocalRank: number
  readonly turnAt10: number
}

function figuresOf(dialogues: number, outcomes: readonly Outcome[]): LocomoFigures {
  const share = (value: (outcome: Outcome) => number) =>
    Math.round((1000 * outcomes.reduce((sum, each) => sum + value(each), 0)) / outcomes.length) / 1000
  const within = (count: number) => share(({ sessionRank }) => (sessionRank > 0 && sessionRank <= count ? 1 : 0))
  return {
    dialogues,
    questions: outcomes.length,
    hitAt1: within(1),
    hitAt5: within(5),
    meanReciprocalRank: share(({ sessionRank }) => (sessionRank > 0 ? 1 / sessionRank : 0)),
    turnAt10: share(({ hasTurn }) => (hasTurn ? 1 : 0)),
  }
}

function page({ dialogues, questions, hitAt1, hitAt5, meanReciprocalRank, turnAt10 }: LocomoFigures): Page {
  return {
    title: 'Recall with a question’s own words',
    parts: [
      `${dialogues} dialogues of LoCoMo, long conversations over many days, with ${questions} questions that name their evidence. Each session is a transcript, each turn a message, and the question is the query, word for word; ten cards, no model and no embeddings. \`npm run bench -- locomo\` makes this page if the data is there.`,
      table(
        ['', 'share of questions'],
        [
          ['hit@1: the first session has evidence', hitAt1.toFixed(3)],
          ['hit@5: one of the first five sessions has evidence', hitAt5.toFixed(3)],
          ['mean reciprocal rank of that session', meanReciprocalRank.toFixed(3)],
          ['turn@10: a turn with the evidence is among the ten cards', turnAt10.toFixed(3)],
        ],
      ),
    ],
  }
}
