// What the hooks of the Claude Code plug-in cost with a transcript of 50 MB, next to a Node that does nothing. Each is a
// process of its own, as in Claude Code, and they take turns. Processor time, because it hardly depends on other load.
import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateSession, serialize } from 'everlong/testing'
import { median, writeResults } from '../results.ts'
import { root } from '../root.ts'

const megabytes = 50
const rounds = 15
const program = join(root, 'plugins/claude-code/dist/everlong.js')
const summary = '<summary>1. The reports were read.</summary>'

type Hook = {
  readonly name: string
  readonly mode: 'hook' | 'background'
  readonly event: string
  readonly note: string
}

const hooks: readonly Hook[] = [
  { name: 'PreCompact', mode: 'hook', event: 'PreCompact', note: 'instructions for the summary' },
  { name: 'SessionStart', mode: 'hook', event: 'SessionStart', note: 'the rules of the user' },
  { name: 'PostCompact', mode: 'hook', event: 'PostCompact', note: 'keeps the summary' },
  {
    name: 'PostCompact, async',
    mode: 'background',
    event: 'PostCompact',
    note: 'compares it; the agent does not wait',
  },
  { name: 'UserPromptSubmit', mode: 'hook', event: 'UserPromptSubmit', note: 'hands over what was lost' },
]

/** Tells on stderr how much processor time the process used. */
const meter = `data:text/javascript,process.on('exit',()=>{const{user,system}=process.cpuUsage();process.stderr.write('\\ncpu='+(user+system)/1000)})`

function cpuOf(words: readonly string[], input: string, data: string): number {
  const env = { ...process.env, CLAUDE_PLUGIN_DATA: data, NODE_COMPILE_CACHE: undefined }
  const run = spawnSync(process.execPath, ['--import', meter, ...words], { input, env, encoding: 'utf8' })
  const cpu = /cpu=([\d.]+)$/.exec(run.stderr)?.[1]
  if (run.status !== 0 || cpu === undefined) throw new Error(`${words.join(' ')} failed: ${run.stderr}`)
  return Number(cpu)
}

function writeSession(path: string): void {
  const human = ['Never touch schema.sql from now on.', 'Fix the report.', 'Go on.']
  const waiting: string[] = []
  for (const record of generateSession({ seed: 5, targetBytes: megabytes * 1_000_000, human })) {
    waiting.push(serialize(record))
    if (waiting.length === 1_000) appendFileSync(path, waiting.splice(0).join(''))
  }
  appendFileSync(path, waiting.join(''))
}

export function run(): void {
  const folder = mkdtempSync(join(tmpdir(), 'everlong-hooks-'))
  try {
    const transcript = join(folder, 'session.jsonl')
    const data = join(folder, 'data')
    mkdirSync(data)
    writeSession(transcript)
    const built = spawnSync(process.execPath, [join(root, 'scripts/build-plugins.ts'), 'claude-code'], { cwd: root })
    if (built.status !== 0) throw new Error('The plug-in could not be built.')
    const eventOf = (name: string) =>
      JSON.stringify({
        ...{ session_id: 's1', transcript_path: transcript, hook_event_name: name },
        compact_summary: summary,
      })
    const cost = ({ mode, event }: Hook) => cpuOf([program, mode, data], eventOf(event), data)
    const nothing = () => cpuOf(['--eval', ''], '', data)
    // While Claude Code writes the summary, this reads the transcript.
    const first = cpuOf([program, 'background', data], eventOf('PreCompact'), data)
    const all = new Map(hooks.map(({ name }) => [name, [] as number[]]))
    const empty: number[] = []
    for (let round = 0; round < rounds; round++) {
      empty.push(nothing())
      for (const hook of hooks) all.get(hook.name)?.push(cost(hook))
    }
    report(median(empty), [
      { name: 'PreCompact, async', note: 'reads the transcript; the agent does not wait', milliseconds: first },
      ...hooks.map(({ name, note }) => ({ name, note, milliseconds: median(all.get(name) ?? []) })),
    ])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

type Row = { readonly name: string; readonly note: string; readonly milliseconds: number }

function report(empty: number, rows: readonly Row[]): void {
  const lines = rows.map(({ name, note, milliseconds }) => {
    return `| \`${name}\` | ${note} | ${milliseconds.toFixed(0)} | ${(milliseconds / empty).toFixed(1)} |`
  })
  writeResults('hooks', {
    json: { megabytes, rounds, cores: availableParallelism(), node: process.version, empty, rows },
    markdown: `# Hooks of the Claude Code plug-in

Processor time of one hook, in milliseconds, with a transcript of ${megabytes} MB; the median of ${rounds} runs. A Node that does nothing
takes ${empty.toFixed(0)} ms. \`npm run bench -- hooks\`, Node ${process.version}.

| hook | what it does | ms | times an empty Node |
| --- | --- | ---: | ---: |
${lines.join('\n')}
`,
  })
}
